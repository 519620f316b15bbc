/* SPDX-License-Identifier: MIT
 *
 *     traffic serve ADDRESS             print a port, then serve the other commands on it
 *     traffic bulk ADDRESS PORT MIB     send so much; prints MiB a second until the server has all
 *     traffic ping ADDRESS PORT COUNT   a byte there and back; prints the median in microseconds
 *     traffic open ADDRESS PORT COUNT   the same, with a new connection for each byte
 *     traffic many ADDRESS PORT COUNT   so many connections at once, a byte there and back on each;
 *                                       prints how many worked
 *
 * Measures the relay of a network; ADDRESS is IPv4.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <netinet/tcp.h>
#include <time.h>
#include <unistd.h>

#define MOST 4096

static char chunk[256 << 10];

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct sockaddr_in address(const char *host, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		errx(2, "no address: %s", host);
	return a;
}

static int dial(const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof(*a)))
		err(1, "connect");
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			err(1, "send");
		p += k;
		n -= (size_t)k;
	}
}

/* Serve one connection: 'b' reads all until its end and sends a byte back; 'e' sends each byte
 * back. */
static void serve_one(int fd)
{
	ssize_t k;
	char how;
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (recv(fd, &how, 1, 0) != 1)
		return;
	while ((k = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		if (how == 'e')
			send_all(fd, chunk, (size_t)k);
	if (how == 'b')
		send_all(fd, "b", 1);
}

static int serve(const char *host)
{
	struct sockaddr_in a = address(host, 0);
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&a, len) || listen(s, 1024) ||
	    getsockname(s, (struct sockaddr *)&a, &len))
		err(1, "%s", host);
	(void)printf("%d\n", ntohs(a.sin_port));
	(void)fflush(stdout);
	for (;;) {
		int fd = accept4(s, NULL, NULL, SOCK_CLOEXEC);

		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (fd < 0)
			err(1, "accept");
		if (!fork()) {
			serve_one(fd);
			_exit(0);
		}
		(void)close(fd);
	}
}

static void bulk(const struct sockaddr_in *a, int mib)
{
	double begun = now_us();
	int fd = dial(a);
	char back;

	send_all(fd, "b", 1);
	for (int i = 0; i < mib * 4; i++)
		send_all(fd, chunk, sizeof(chunk));
	(void)shutdown(fd, SHUT_WR);
	if (recv(fd, &back, 1, MSG_WAITALL) != 1)
		err(1, "recv");
	(void)printf("%.0f\n", mib / ((now_us() - begun) / 1e6));
}

static void there_and_back(int fd)
{
	char c = 'x';

	send_all(fd, &c, 1);
	if (recv(fd, &c, 1, MSG_WAITALL) != 1)
		err(1, "recv");
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void times(const struct sockaddr_in *a, int count, int reconnect)
{
	double *took = calloc((size_t)count, sizeof(*took));
	int fd = -1;

	for (int i = 0; took && i < count; i++) {
		double begun = now_us();

		if (reconnect || fd < 0) {
			fd = dial(a);
			send_all(fd, "e", 1);
		}
		there_and_back(fd);
		took[i] = now_us() - begun;
		if (reconnect)
			(void)close(fd);
	}
	if (!took)
		err(1, "memory");
	qsort(took, (size_t)count, sizeof(*took), by_size);
	(void)printf("%.1f\n", took[count / 2]);
	free(took);
}

static void many(const struct sockaddr_in *a, int count)
{
	static int fds[MOST];
	int ok = 0;

	for (int i = 0; i < count; i++) {
		fds[i] = dial(a);
		send_all(fds[i], "e", 1);
	}
	for (int i = 0; i < count; i++, ok++)
		there_and_back(fds[i]);
	(void)printf("%d\n", ok);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a;
	int n;

	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc != 5)
		errx(2, "usage: traffic serve ADDRESS | bulk|ping|open|many ADDRESS PORT NUMBER");
	a = address(argv[2], (int)strtol(argv[3], NULL, 10));
	n = (int)strtol(argv[4], NULL, 10);
	if (n < 1 || n > MOST)
		errx(2, "1 to %d", MOST);
	if (!strcmp(argv[1], "bulk"))
		bulk(&a, n);
	else if (!strcmp(argv[1], "many"))
		many(&a, n);
	else
		times(&a, n, !strcmp(argv[1], "open"));
	return 0;
}
