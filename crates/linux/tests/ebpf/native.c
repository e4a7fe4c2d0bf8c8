/*
 * An eBPF program, compiled for this machine, with a connection of its own to govern.
 *
 * It reads commands of eight 32-bit words from standard input, and answers some with four. `native.rs` writes them.
 * PROGRAM is the source file, ALGORITHM the name of its tcp_congestion_ops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include PROGRAM

#define PATHS_MAX 80

enum { NEW, SET, SAMPLE, ACK, LOSS, STATE, RESTART, FLUSH };

struct command {
	__u32 what;
	__u32 path;
	__u32 arguments[6];
};

struct answer {
	__u32 cwnd;
	__u32 ssthresh;
	__u32 credit;
	/* What the algorithm answered, where it was asked for a threshold. */
	__u32 asked;
};

static struct tcp_sock sockets[PATHS_MAX];
static struct mptcp_subflow_context contexts[PATHS_MAX];
static struct mptcp_sock connection;

static struct sock *socket_of(__u32 path)
{
	return (struct sock *)&sockets[path];
}

/* The kernel's functions, as net/ipv4/tcp_cong.c has them. */

__u32 tcp_reno_ssthresh(struct sock *sk)
{
	__u32 half = tcp_sk(sk)->snd_cwnd >> 1;

	return half > 2 ? half : 2;
}

__u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

__u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked)
{
	__u64 target = (__u64)tp->snd_cwnd + acked;
	__u32 cwnd = target < tp->snd_ssthresh ? (__u32)target : tp->snd_ssthresh;

	acked -= cwnd - tp->snd_cwnd;
	tcp_set_cwnd(tp, cwnd);
	return acked;
}

void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked)
{
	if (tp->snd_cwnd_cnt >= w) {
		tp->snd_cwnd_cnt = 0;
		tp->snd_cwnd++;
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= w) {
		__u32 steps = tp->snd_cwnd_cnt / w;

		tp->snd_cwnd_cnt -= steps * w;
		tp->snd_cwnd += steps;
	}
	tcp_set_cwnd(tp, tp->snd_cwnd);
}

void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(tp))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

/* A connection of `paths` subflows, or a plain TCP connection where that is 0. */
static void begin(__u32 paths)
{
	__u32 i;

	memset(sockets, 0, sizeof(sockets));
	memset(contexts, 0, sizeof(contexts));
	connection.conn_list.next = &connection.conn_list;
	for (i = 0; i < (paths ? paths : 1); i++) {
		sockets[i].inet_conn.icsk_ca_ops = &ALGORITHM;
		sockets[i].snd_cwnd_clamp = ~0U;
		sockets[i].is_cwnd_limited = 1;
		if (paths) {
			sockets[i].is_mptcp = true;
			sockets[i].inet_conn.icsk_ulp_data = &contexts[i];
			contexts[i].tcp_sock = socket_of(i);
			contexts[i].conn = (struct sock *)&connection;
			contexts[i].node.next = i + 1 < paths ? &contexts[i + 1].node : &connection.conn_list;
			connection.conn_list.next = &contexts[0].node;
		}
		if (ALGORITHM.init)
			ALGORITHM.init(socket_of(i));
	}
}

static void set(struct tcp_sock *tp, const __u32 *arguments)
{
	tp->snd_cwnd = arguments[0];
	tp->snd_ssthresh = arguments[1];
	tp->srtt_us = arguments[2];
	tp->snd_cwnd_cnt = arguments[3];
	tp->inet_conn.icsk_ca_state = arguments[4];
	tp->inet_conn.icsk_inet.sk.__sk_common.skc_state = arguments[5];
}

static void sample(struct sock *sk, const __u32 *arguments)
{
	struct ack_sample sample = { (__s32)arguments[2] };
	struct tcp_sock *tp = tcp_sk(sk);

	tp->bytes_acked = (__u64)arguments[1] << 32 | arguments[0];
	tp->snd_una = arguments[0];
	tp->snd_nxt = arguments[3];
	if (ALGORITHM.pkts_acked)
		ALGORITHM.pkts_acked(sk, &sample);
}

static void change_state(struct sock *sk, __u8 state)
{
	if (ALGORITHM.set_state)
		ALGORITHM.set_state(sk, state);
	inet_csk(sk)->icsk_ca_state = state;
}

static void answer(const struct tcp_sock *tp, __u32 asked)
{
	struct answer answer = { tp->snd_cwnd, tp->snd_ssthresh, tp->snd_cwnd_cnt, asked };

	if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
		exit(1);
}

int main(void)
{
	static char input[1 << 16], output[1 << 16];
	struct command command;

	setvbuf(stdin, input, _IOFBF, sizeof(input));
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	while (fread(&command, sizeof(command), 1, stdin) == 1) {
		struct sock *sk = socket_of(command.path % PATHS_MAX);

		switch (command.what) {
		case NEW:
			begin(command.path);
			break;
		case SET:
			set(tcp_sk(sk), command.arguments);
			break;
		case SAMPLE:
			sample(sk, command.arguments);
			break;
		case ACK:
			ALGORITHM.cong_avoid(sk, tcp_sk(sk)->snd_una, command.arguments[0]);
			answer(tcp_sk(sk), 0);
			break;
		case LOSS:
			answer(tcp_sk(sk), ALGORITHM.ssthresh(sk));
			break;
		case STATE:
			change_state(sk, command.arguments[0]);
			break;
		case RESTART:
			if (ALGORITHM.cwnd_event)
				ALGORITHM.cwnd_event(sk, CA_EVENT_CWND_RESTART);
			break;
		case FLUSH:
			fflush(stdout);
			break;
		default:
			return 2;
		}
	}
	return 0;
}
