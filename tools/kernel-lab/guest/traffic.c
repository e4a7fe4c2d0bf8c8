// The traffic of one run: senders that always have data, receivers that read at once, a thin flow of datagrams, and what
// the kernel tells meanwhile. Both ends are in this process, which enters the network namespace of each.
//
//     traffic < PLAN
//
// Lines of the plan:
//     duration SECONDS
//     queue NAMESPACE DEVICE                                  sampled each 7 ms, which is no multiple of the RTT
//     flow PROTOCOL NAMESPACE ADDRESS PORT START BYTES CONGESTION MESSAGE     BYTES 0: until the end
//     thin NAMESPACE ADDRESS PORT START MICROSECONDS          a datagram of 100 bytes in each interval
//     at SECONDS COMMAND                                      a line for the shell
//
// The run ends after its duration, or once all flows that have a size are received.

#define _GNU_SOURCE
#include "traffic.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

enum { COMMANDS_MAX = 8, LINE_MAX_LENGTH = 512, DATAGRAM = 100, SCTP_BUFFER = 4 << 20 };
static const double QUEUE_INTERVAL = 0.007, INFO_INTERVAL = 0.05;

static struct flow flows[FLOWS_MAX];
static int flow_count;
static struct command {
	double time;
	char line[LINE_MAX_LENGTH];
} commands[COMMANDS_MAX];
static int command_count, next_command;
static double duration = 30;
static uint64_t origin;
static char data[1 << 18];
static int events;

static uint64_t nanoseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

double now(void)
{
	return (nanoseconds() - origin) * 1e-9;
}

void fail(const char *what)
{
	fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
	exit(1);
}

void enter(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	int namespace = open(path, O_RDONLY | O_CLOEXEC);
	if (namespace < 0 || setns(namespace, CLONE_NEWNET))
		fail(path);
	close(namespace);
}

static const char *const NAMES[] = { "tcp", "mptcp", "sctp", "udp" };

const char *protocol_name(enum protocol protocol)
{
	return NAMES[protocol];
}

static enum protocol protocol_of(const char *name)
{
	for (int i = TCP; i <= UDP; i++)
		if (!strcmp(name, NAMES[i]))
			return i;
	fprintf(stderr, "traffic: no protocol %s\n", name);
	exit(1);
}

static void read_line(const char *line)
{
	struct flow *flow = &flows[flow_count];
	char name[NAME_MAX_LENGTH], device[NAME_MAX_LENGTH];

	if (sscanf(line, "duration %lf", &duration) == 1)
		return;
	if (sscanf(line, "queue %31s %31s", name, device) == 2)
		return watch_queue(name, device);
	if (flow_count == FLOWS_MAX || command_count == COMMANDS_MAX)
		fail("more flows or commands than there may be");
	if (!strncmp(line, "at ", 3)) {
		struct command *command = &commands[command_count++];
		int begin = 0;
		if (sscanf(line, "at %lf %n", &command->time, &begin) == 1 && begin)
			snprintf(command->line, sizeof(command->line), "%s", line + begin);
		return;
	}
	if (sscanf(line, "flow %31s %31s %31s %d %lf %lu %31s %zu", name, flow->client, flow->destination, &flow->port,
		   &flow->start, &flow->bytes, flow->congestion, &flow->message) == 8)
		flow->protocol = protocol_of(name);
	else if (sscanf(line, "thin %31s %31s %d %lf %lu", flow->client, flow->destination, &flow->port, &flow->start,
			&flow->bytes) == 5)
		flow->protocol = UDP;
	else {
		fprintf(stderr, "traffic: the plan has the line %s", line);
		exit(1);
	}
	flow->sender = flow->receiver = -1;
	flow->done = NEVER;
	flow_count++;
}

static int open_socket(const struct flow *flow)
{
	static const int PROTOCOLS[] = { IPPROTO_TCP, IPPROTO_MPTCP, IPPROTO_SCTP, IPPROTO_UDP };
	int type = (flow->protocol == UDP ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
	int made = socket(AF_INET, type, PROTOCOLS[flow->protocol]), bytes = SCTP_BUFFER;

	if (made < 0)
		fail(protocol_name(flow->protocol));
	if (flow->protocol == SCTP) {
		setsockopt(made, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
		setsockopt(made, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	}
	return made;
}

enum end { LISTENER, SENDER, RECEIVER, ENDS };

static void await(int descriptor, uint32_t what, const struct flow *flow, enum end end)
{
	struct epoll_event event = { .events = what, .data.u32 = (flow - flows) * ENDS + end };

	if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event))
		fail("epoll");
}

static void listen_for(struct flow *flow)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(flow->port) };

	enter("s");
	flow->listener = open_socket(flow);
	if (bind(flow->listener, (struct sockaddr *)&address, sizeof(address)))
		fail("bind");
	if (flow->protocol == UDP) {
		flow->receiver = flow->listener;
		await(flow->receiver, EPOLLIN, flow, RECEIVER);
	} else {
		if (listen(flow->listener, 8))
			fail("listen");
		await(flow->listener, EPOLLIN, flow, LISTENER);
	}
}

static void start(struct flow *flow)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(flow->port) };

	enter(flow->client);
	flow->sender = open_socket(flow);
	inet_aton(flow->destination, &address.sin_addr);
	int has_choice = flow->protocol == TCP || flow->protocol == MPTCP;
	if (has_choice && setsockopt(flow->sender, IPPROTO_TCP, TCP_CONGESTION, flow->congestion, strlen(flow->congestion)))
		fail(flow->congestion);
	flow->is_started = 1;
	flow->start = flow->next_datagram = now();
	if (connect(flow->sender, (struct sockaddr *)&address, sizeof(address)) && errno != EINPROGRESS)
		fail("connect");
	if (flow->protocol != UDP)
		await(flow->sender, EPOLLOUT | EPOLLET, flow, SENDER);
}

// Writes until the socket's buffer is full.
static void write_data(struct flow *flow)
{
	while (!flow->is_written) {
		uint64_t rest = flow->bytes ? flow->bytes - flow->sent : flow->message;
		size_t length = rest < flow->message ? rest : flow->message;
		if (!length) {
			flow->is_written = 1;
			return;
		}
		ssize_t written = send(flow->sender, data, length, MSG_NOSIGNAL);
		if (written < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return;
		if (written < 0)
			fail("send");
		flow->sent += written;
	}
}

// Datagrams tell their time: delay TIME MICROSECONDS
static void read_datagrams(struct flow *flow)
{
	uint64_t datagram[DATAGRAM / 8 + 1];

	while (recv(flow->receiver, datagram, sizeof(datagram), 0) > 0) {
		flow->received++;
		printf("delay %.4f %lu\n", now(), (nanoseconds() - datagram[0]) / 1000);
	}
}

static void read_data(struct flow *flow)
{
	ssize_t length;

	if (flow->protocol == UDP)
		return read_datagrams(flow);
	// Not for ever, so that samples come in time.
	for (int reads = 0; reads < 64 && (length = read(flow->receiver, data, sizeof(data))) > 0; reads++) {
		double time = now();
		if (time > duration)
			return;
		flow->received += length;
		if (time >= duration / 3)
			flow->received_in_tail += length;
		if (flow->bytes && flow->received >= flow->bytes && flow->done < 0)
			flow->done = time;
	}
}

static void send_datagram(struct flow *flow)
{
	uint64_t datagram[DATAGRAM / 8 + 1] = { nanoseconds() };

	flow->sent += send(flow->sender, datagram, DATAGRAM, 0) == DATAGRAM;
	flow->next_datagram += flow->bytes * 1e-6;
}

static void handle(const struct epoll_event *event)
{
	struct flow *flow = &flows[event->data.u32 / ENDS];

	switch (event->data.u32 % ENDS) {
	case LISTENER:
		flow->receiver = accept4(flow->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (flow->receiver >= 0)
			await(flow->receiver, EPOLLIN, flow, RECEIVER);
		break;
	case SENDER:
		write_data(flow);
		break;
	default:
		read_data(flow);
	}
}

static double earlier(double a, double b)
{
	return a < b ? a : b;
}

static void run_command(const char *line)
{
	if (fork())
		return;
	execl("/bin/sh", "sh", "-c", line, NULL);
	_exit(127);
}

// Does what is due at `time`. Returns when something is due again.
static double do_what_is_due(double time)
{
	static double next_queue = 0.0035, next_info;
	double next = duration;

	for (int i = 0; i < flow_count; i++) {
		struct flow *flow = &flows[i];
		if (!flow->is_started && time >= flow->start)
			start(flow);
		if (flow->is_started && flow->protocol == UDP && time >= flow->next_datagram)
			send_datagram(flow);
		if (!flow->is_started)
			next = earlier(next, flow->start);
		else if (flow->protocol == UDP)
			next = earlier(next, flow->next_datagram);
	}
	if (next_command < command_count && time >= commands[next_command].time)
		run_command(commands[next_command++].line);
	if (next_command < command_count)
		next = earlier(next, commands[next_command].time);
	if (time >= next_queue) {
		sample_queues(time);
		next_queue += QUEUE_INTERVAL;
	}
	if (time >= next_info) {
		for (int i = 0; i < flow_count; i++)
			if (flows[i].is_started)
				sample_flow(time, i + 1, &flows[i]);
		next_info += INFO_INTERVAL;
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return earlier(next, earlier(next_queue, next_info));
}

// Whether all flows that have a size are received, if there is one.
static int are_sizes_received(void)
{
	int sizes = 0;

	for (int i = 0; i < flow_count; i++) {
		if (flows[i].protocol == UDP || !flows[i].bytes)
			continue;
		if (flows[i].done < 0)
			return 0;
		sizes++;
	}
	return sizes > 0;
}

static void run(void)
{
	while (now() < duration && !are_sizes_received()) {
		struct epoll_event ready[16];
		double wait = do_what_is_due(now()) - now();
		struct timespec timeout = { .tv_sec = 0, .tv_nsec = wait > 0 ? wait * 1e9 : 0 };
		int count = epoll_pwait2(events, ready, 16, &timeout, NULL);
		if (count < 0 && errno != EINTR)
			fail("epoll");
		for (int i = 0; i < count; i++)
			handle(&ready[i]);
	}
}

int main(void)
{
	char line[LINE_MAX_LENGTH];

	events = epoll_create1(EPOLL_CLOEXEC);
	while (fgets(line, sizeof(line), stdin))
		read_line(line);
	for (int i = 0; i < flow_count; i++)
		listen_for(&flows[i]);
	origin = nanoseconds();
	run();
	double end = now();
	for (int i = 0; i < flow_count; i++) {
		const struct flow *flow = &flows[i];
		sample_flow(end, i + 1, flow);
		// flow NUMBER PROTOCOL START SENT RECEIVED RECEIVED_IN_TAIL DONE
		printf("flow %d %s %.6f %lu %lu %lu %.6f\n", i + 1, protocol_name(flow->protocol), flow->start, flow->sent,
		       flow->received, flow->received_in_tail, flow->done);
	}
	for (int i = 0; i < flow_count; i++)
		if (!i || strcmp(flows[i].client, flows[i - 1].client))
			report_counters(flows[i].client);
	printf("end %.6f\n", end);
	fflush(stdout);
	_exit(0);
}
