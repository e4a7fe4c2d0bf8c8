// What the kernel tells: TCP_INFO of each flow and subflow, the packets that wait in queues, the counters of a namespace.
// Each line that is printed begins with what it is.

#include "traffic.h"

#include <linux/gen_stats.h>
#include <linux/mptcp.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_MPTCP
#define SOL_MPTCP 284
#endif

enum { QUEUES_MAX = 4, SUBFLOWS_MAX = 8 };

static struct queue {
	int netlink;
	int device;
} queues[QUEUES_MAX];
static int queue_count;

// The queues are asked over a socket of their namespace.
void watch_queue(const char *name, const char *device)
{
	struct queue *queue = &queues[queue_count++];

	if (queue_count > QUEUES_MAX)
		fail("more queues than can be watched");
	enter(name);
	queue->device = if_nametoindex(device);
	queue->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (!queue->device || queue->netlink < 0)
		fail(device);
}

// The length in packets that a message tells of the root queue of `device`, or -1 if it is about something else.
static int queue_length(struct nlmsghdr *header, int device)
{
	struct tcmsg *message = NLMSG_DATA(header);
	int rest = header->nlmsg_len - NLMSG_LENGTH(sizeof(*message));
	struct rtattr *attribute = (struct rtattr *)((char *)message + NLMSG_ALIGN(sizeof(*message)));

	if (message->tcm_ifindex != device || message->tcm_parent != TC_H_ROOT)
		return -1;
	for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest)) {
		if ((attribute->rta_type & NLA_TYPE_MASK) != TCA_STATS2)
			continue;
		int inner_rest = RTA_PAYLOAD(attribute);
		struct rtattr *inner = RTA_DATA(attribute);
		for (; RTA_OK(inner, inner_rest); inner = RTA_NEXT(inner, inner_rest))
			if ((inner->rta_type & NLA_TYPE_MASK) == TCA_STATS_QUEUE)
				return ((struct gnet_stats_queue *)RTA_DATA(inner))->qlen;
	}
	return -1;
}

static int waiting_packets(const struct queue *queue)
{
	static char answer[1 << 16];
	struct {
		struct nlmsghdr header;
		struct tcmsg message;
	} request = {
		.header = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.message = { .tcm_family = AF_UNSPEC },
	};
	int found = -1;

	if (send(queue->netlink, &request, sizeof(request), 0) < 0)
		fail("a question about queues");
	for (;;) {
		int rest = recv(queue->netlink, answer, sizeof(answer), 0);
		if (rest <= 0)
			fail("an answer about queues");
		struct nlmsghdr *header = (struct nlmsghdr *)answer;
		for (; NLMSG_OK(header, rest); header = NLMSG_NEXT(header, rest)) {
			if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
				return found;
			int length = queue_length(header, queue->device);
			if (length >= 0)
				found = length;
		}
	}
}

// queue TIME PACKETS...
void sample_queues(double time)
{
	printf("queue %.4f", time);
	for (int i = 0; i < queue_count; i++)
		printf(" %d", waiting_packets(&queues[i]));
	printf("\n");
}

// info TIME FLOW SUBFLOW CWND SSTHRESH SRTT_US MIN_RTT_US RETRANSMITS DELIVERED_CE OPTIONS
static void print_info(double time, int flow, int subflow, const struct tcp_info *info)
{
	printf("info %.4f %d %d %u %u %u %u %u %u %u\n", time, flow, subflow, info->tcpi_snd_cwnd, info->tcpi_snd_ssthresh,
	       info->tcpi_rtt, info->tcpi_min_rtt, info->tcpi_total_retrans, info->tcpi_delivered_ce, info->tcpi_options);
}

void sample_flow(double time, int number, const struct flow *flow)
{
	if (flow->protocol == TCP) {
		struct tcp_info info = { 0 };
		socklen_t length = sizeof(info);
		if (!getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &info, &length))
			print_info(time, number, 1, &info);
	} else if (flow->protocol == MPTCP) {
		struct {
			struct mptcp_subflow_data header;
			struct tcp_info subflows[SUBFLOWS_MAX];
		} infos = { .header = { .size_subflow_data = sizeof(infos.header), .size_user = sizeof(struct tcp_info) } };
		socklen_t length = sizeof(infos);
		if (getsockopt(flow->sender, SOL_MPTCP, MPTCP_TCPINFO, &infos, &length))
			return;
		for (unsigned i = 0; i < infos.header.num_subflows && i < SUBFLOWS_MAX; i++)
			print_info(time, number, i + 1, &infos.subflows[i]);
	}
}

// Prints the lines of a file with one name and one value each, if it is there: counter NAMESPACE KEY VALUE
static void print_pairs(const char *name, const char *file)
{
	FILE *pairs = fopen(file, "r");
	char key[64];
	long long value;

	while (pairs && fscanf(pairs, "%63s %lld", key, &value) == 2)
		if (value)
			printf("counter %s %s %lld\n", name, key, value);
	if (pairs)
		fclose(pairs);
}

// Prints the counters that are not zero of a file whose lines come in twos, names and values.
static void print_table(const char *name, const char *file)
{
	static char keys[1 << 14], values[1 << 14];
	FILE *table = fopen(file, "r");

	if (!table)
		fail(file);
	while (fgets(keys, sizeof(keys), table) && fgets(values, sizeof(values), table)) {
		char *keys_rest, *values_rest;
		char *group = strtok_r(keys, ": \n", &keys_rest), *key, *value;
		strtok_r(values, " \n", &values_rest);
		while ((key = strtok_r(NULL, " \n", &keys_rest)) && (value = strtok_r(NULL, " \n", &values_rest)))
			if (strcmp(value, "0"))
				printf("counter %s %s.%s %s\n", name, group, key, value);
	}
	fclose(table);
}

void report_counters(const char *name)
{
	enter(name);
	print_table(name, "/proc/thread-self/net/snmp");
	print_table(name, "/proc/thread-self/net/netstat");
	print_pairs(name, "/proc/thread-self/net/sctp/snmp");
}
