// What the parts of the traffic generator share.
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdint.h>
#include <stdio.h>

enum { FLOWS_MAX = 8, NAME_MAX_LENGTH = 32, NEVER = -1 };

enum protocol { TCP, MPTCP, SCTP, UDP };

// One flow, from the namespace `client` to the namespace `s`.
struct flow {
	enum protocol protocol;
	char client[NAME_MAX_LENGTH];
	char destination[NAME_MAX_LENGTH];
	char congestion[NAME_MAX_LENGTH];
	int port;
	double start;          // seconds; of UDP, that of the first datagram
	uint64_t bytes;        // 0 without end; of UDP, microseconds between datagrams
	size_t message;        // bytes of each write
	int listener, sender, receiver;
	int is_started, is_written;
	uint64_t sent, received, received_in_tail;
	double done;           // when the last byte was read, or NEVER
	double next_datagram;
};

double now(void);
void enter(const char *name);
const char *protocol_name(enum protocol protocol);
void fail(const char *what);

// sample.c: what the kernel tells of sockets and queues.
void watch_queue(const char *name, const char *device);
void sample_queues(double time);
void sample_flow(double time, int number, const struct flow *flow);
void report_counters(const char *name);

#endif
