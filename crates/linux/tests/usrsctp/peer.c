/* The real peer of the test: usrsctp, the SCTP of FreeBSD in user space, over UDP encapsulation (RFC 6951).
 *
 *   peer connect|listen LOCAL_UDP REMOTE_UDP LOCAL_PORT REMOTE_PORT SEND RECEIVE END LOCAL,… REMOTE,… [cmt]
 *
 * SEND and RECEIVE are bytes of the two directions; END is `finish` (this side shuts down when it has both), `wait` (the
 * other side does) or `abort`. With `cmt`: concurrent multipath transfer, delayed acknowledgments for it, and NR-SACK.
 * It says `ready` when it listens, then `established`, `received N`, `path ADDRESS STATE`, and in the end `closed` or `lost`.
 * LOCAL_UDP and REMOTE_UDP of 0 mean SCTP directly in IP, which takes root. Each direction is the stream of bytes that
 * `Pattern` in crates/linux/src/pattern.rs makes, in which no two places look alike. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

#define MESSAGE 1452
#define BUFFER 65536

static uint8_t byte_at(uint64_t offset)
{
    uint64_t x = (offset / 8 + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint8_t)((x ^ (x >> 27)) >> 8 * (offset % 8));
}

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

static void fail(const char *what)
{
    printf("failed: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static struct socket *socket_of_association;
static uint8_t buffer[BUFFER];

/* The next message; 0 at the end, below 0 when the association is lost. usrsctp writes to every place it is given. */
static ssize_t receive(void)
{
    struct sockaddr_in from;
    struct sctp_rcvinfo info;
    socklen_t from_length = sizeof(from), info_length = sizeof(info);
    unsigned int kind = 0;
    int flags = 0;
    return usrsctp_recvv(socket_of_association, buffer, sizeof(buffer), (struct sockaddr *)&from, &from_length, &info,
                         &info_length, &kind, &flags);
}

static uint64_t to_send;

/* Sends all bytes of this direction in messages. */
static void *sender(void *unused)
{
    uint8_t message[MESSAGE];
    uint64_t offset = 0;
    (void)unused;
    while (offset < to_send) {
        size_t length = to_send - offset < MESSAGE ? (size_t)(to_send - offset) : MESSAGE;
        for (size_t i = 0; i < length; i++)
            message[i] = byte_at(offset + i);
        if (usrsctp_sendv(socket_of_association, message, length, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) < 0)
            fail("send");
        offset += length;
    }
    return NULL;
}

static size_t addresses(char *list, uint16_t port, struct sockaddr_in *out, size_t most)
{
    size_t count = 0;
    for (char *one = strtok(list, ","); one != NULL && count < most; one = strtok(NULL, ",")) {
        memset(&out[count], 0, sizeof(out[count]));
        out[count].sin_family = AF_INET;
        out[count].sin_port = htons(port);
        if (inet_pton(AF_INET, one, &out[count].sin_addr) != 1)
            fail(one);
        count++;
    }
    return count;
}

static void tell_paths(void)
{
    struct sockaddr *all;
    int count = usrsctp_getpaddrs(socket_of_association, 0, &all);
    char *at = (char *)all;
    for (int i = 0; i < count; i++) {
        struct sctp_paddrinfo info;
        socklen_t length = sizeof(info);
        char text[INET_ADDRSTRLEN];
        memset(&info, 0, sizeof(info));
        memcpy(&info.spinfo_address, at, sizeof(struct sockaddr_in));
        if (usrsctp_getsockopt(socket_of_association, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &info, &length) < 0)
            continue;
        inet_ntop(AF_INET, &((struct sockaddr_in *)at)->sin_addr, text, sizeof(text));
        printf("path %s %s\n", text, info.spinfo_state == SCTP_ACTIVE ? "active" : "other");
        at += sizeof(struct sockaddr_in);
    }
    fflush(stdout);
    if (count > 0)
        usrsctp_freepaddrs(all);
}

int main(int argc, char **argv)
{
    if (argc < 11) {
        fprintf(stderr, "too few arguments\n");
        return 2;
    }
    int connects = strcmp(argv[1], "connect") == 0;
    uint16_t local_udp = (uint16_t)atoi(argv[2]), remote_udp = (uint16_t)atoi(argv[3]);
    uint16_t local_port = (uint16_t)atoi(argv[4]), remote_port = (uint16_t)atoi(argv[5]);
    to_send = strtoull(argv[6], NULL, 10);
    uint64_t to_receive = strtoull(argv[7], NULL, 10);
    const char *end = argv[8];
    int cmt = argc > 11 && strcmp(argv[11], "cmt") == 0;

    usrsctp_init(local_udp, NULL, NULL);
    usrsctp_sysctl_set_sctp_blackhole(0);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_sendspace(1 << 20);
    usrsctp_sysctl_set_sctp_recvspace(1 << 20);
    usrsctp_sysctl_set_sctp_cmt_on_off(cmt ? SCTP_CMT_BASE : SCTP_CMT_OFF);
    usrsctp_sysctl_set_sctp_cmt_use_dac(cmt ? 1 : 0);
    usrsctp_sysctl_set_sctp_nrsack_enable(cmt ? 1 : 0);

    struct sockaddr_in local[4], remote[4];
    size_t locals = addresses(argv[9], local_port, local, 4);
    size_t remotes = addresses(argv[10], remote_port, remote, 4);
    if (locals == 0 || remotes == 0)
        fail("addresses");
    struct socket *opened = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (opened == NULL)
        fail("socket");
    struct sctp_udpencaps in_udp;
    memset(&in_udp, 0, sizeof(in_udp));
    in_udp.sue_address.ss_family = AF_INET;
    in_udp.sue_port = htons(remote_udp);
    if (remote_udp != 0 &&
        usrsctp_setsockopt(opened, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &in_udp, sizeof(in_udp)) < 0)
        fail("UDP encapsulation");
    int on = 1;
    usrsctp_setsockopt(opened, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof(on));
    if (usrsctp_bindx(opened, (struct sockaddr *)local, (int)locals, SCTP_BINDX_ADD_ADDR) < 0)
        fail("bind");

    if (connects) {
        if (usrsctp_connect(opened, (struct sockaddr *)&remote[0], sizeof(remote[0])) < 0)
            fail("connect");
        socket_of_association = opened;
    } else {
        if (usrsctp_listen(opened, 1) < 0)
            fail("listen");
        say("ready");
        socket_of_association = usrsctp_accept(opened, NULL, NULL);
        if (socket_of_association == NULL)
            fail("accept");
    }
    say("established");

    pthread_t thread;
    if (pthread_create(&thread, NULL, sender, NULL) != 0)
        fail("thread");
    uint64_t received = 0;
    while (received < to_receive) {
        ssize_t length = receive();
        if (length <= 0) {
            say("lost");
            _exit(0);
        }
        for (ssize_t i = 0; i < length; i++)
            if (buffer[i] != byte_at(received + (uint64_t)i))
                fail("a byte is not what was sent");
        received += (uint64_t)length;
    }
    pthread_join(thread, NULL);
    printf("received %llu\n", (unsigned long long)received);
    tell_paths();

    if (strcmp(end, "abort") == 0) {
        struct linger now = { .l_onoff = 1, .l_linger = 0 };
        usrsctp_setsockopt(socket_of_association, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
        usrsctp_close(socket_of_association);
        say("closed");
        sleep(1);
        _exit(0);
    }
    if (strcmp(end, "finish") == 0)
        usrsctp_shutdown(socket_of_association, SHUT_WR);
    ssize_t left = receive();
    say(left == 0 ? "closed" : left < 0 ? "lost" : "failed: more came than was to come");
    usrsctp_close(socket_of_association);
    sleep(1);
    _exit(0);
}
