/* A client of many connections that costs next to nothing, so that a benchmark measures the host.
 *
 * It reads a plan from stdin, one "key value" per line, up to "end": where to connect, what each connection says
 * first, and the message that the first connection, the lead, sends again and again. `#index##` in the greeting
 * becomes the number of the connection, `#number#` in a message becomes the number of the message; both keep their
 * eight characters, so that frames are made once. It says "ready", waits for a line, sends, and prints what it saw
 * as JSON.
 *
 * Every healthy connection must receive every number once and in order, behind the text `expect`; with rising
 * "serverSeq" where there is one. Whatever else happens ends it with a sentence on stderr. Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FIRST 10000000LL  /* the first number: all have eight digits */
#define PATIENCE 30       /* seconds without any progress */
#define HEAD 4096         /* numbers of longer messages stand within their first bytes */
#define STALLED_BUFFER 4096

static char host[64] = "127.0.0.1", path[512] = "/", expect[64] = "\"clientSeq\":";
static char *greeting, *message;
static int port, subscribers, stalled, window;
static double rate;
static long long count;

struct connection {
    int fd, waiting_greeting;
    char *data;
    size_t size, used;
    long long received, bytes;
    unsigned long long seq;
};

static struct connection *connections;
static int total;
static double *sent_at;
static float *delays;
static size_t delay_count;

static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* The plan */

static void read_plan(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        line[length - 1] = 0;
        if (!strcmp(line, "end")) return;
        char *value = strchr(line, ' ');
        if (!value) die("not a line of a plan: %s", line);
        *value++ = 0;
        if (!strcmp(line, "port")) port = atoi(value);
        else if (!strcmp(line, "path")) snprintf(path, sizeof path, "%s", value);
        else if (!strcmp(line, "greeting")) greeting = strdup(value);
        else if (!strcmp(line, "message")) message = strdup(value);
        else if (!strcmp(line, "expect")) snprintf(expect, sizeof expect, "%s", value);
        else if (!strcmp(line, "subscribers")) subscribers = atoi(value);
        else if (!strcmp(line, "stalled")) stalled = atoi(value);
        else if (!strcmp(line, "window")) window = atoi(value);
        else if (!strcmp(line, "rate")) rate = atof(value);
        else if (!strcmp(line, "count")) count = atoll(value);
        else die("not a word of a plan: %s", line);
    }
    die("the plan has no end");
}

/* Frames */

static const unsigned char MASK[4] = {0x37, 0xfa, 0x21, 0x3d};

static size_t frame(unsigned char *out, int opcode, const char *text, size_t length) {
    size_t at = 0;
    out[at++] = 0x80 | opcode;
    if (length < 126) out[at++] = 0x80 | length;
    else if (length < 65536) { out[at++] = 0x80 | 126; out[at++] = length >> 8; out[at++] = length & 255; }
    else { out[at++] = 0x80 | 127; for (int shift = 56; shift >= 0; shift -= 8) out[at++] = length >> shift & 255; }
    memcpy(out + at, MASK, 4);
    at += 4;
    for (size_t i = 0; i < length; i++) out[at + i] = text[i] ^ MASK[i & 3];
    return at + length;
}

static void number_into(char *text, const char *mark, long long number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", number);
    for (char *found = text; (found = strstr(found, mark)); found += 8) memcpy(found, digits, 8);
}

static void write_all(int fd, const void *data, size_t length) {
    const char *from = data;
    while (length) {
        ssize_t written = write(fd, from, length);
        if (written < 0) {
            if (errno == EINTR) continue;
            die("write: %s", strerror(errno));
        }
        from += written;
        length -= written;
    }
}

/* What arrives */

static void take_number(struct connection *from, const char *text, size_t length, double at) {
    size_t looked = length < HEAD ? length : HEAD;
    const char *found = memmem(text, looked, expect, strlen(expect));
    if (!found) return;
    long long number = strtoll(found + strlen(expect), NULL, 10) - FIRST;
    if (number < 0) return;
    if (number != from->received) die("expected number %lld, got %lld", from->received + FIRST, number + FIRST);
    if (memmem(text, looked, "\"rejectionReason\"", 17) || memmem(text, looked < 64 ? looked : 64, "\"error\"", 7))
        die("refused: %.*s", (int)looked, text);
    const char *seq = memmem(text, looked, "\"serverSeq\":", 12);
    if (seq) {
        unsigned long long value = strtoull(seq + 12, NULL, 10);
        if (value <= from->seq) die("serverSeq %llu came after %llu", value, from->seq);
        from->seq = value;
    }
    from->received++;
    delays[delay_count++] = at - sent_at[number];
}

static void take_frame(struct connection *from, int opcode, const char *text, size_t length, double at) {
    if (opcode == 9) {
        unsigned char pong[256];
        write_all(from->fd, pong, frame(pong, 10, text, length));
    } else if (opcode == 8) {
        die("the host closed a connection: %.*s", length > 2 ? (int)length - 2 : 0, text + 2);
    } else if (from->waiting_greeting) {
        if (memmem(text, length < HEAD ? length : HEAD, "\"error\"", 7)) die("refused: %.*s", (int)length, text);
        if (memmem(text, length < HEAD ? length : HEAD, "\"id\":1,", 7)) from->waiting_greeting = 0;
    } else {
        take_number(from, text, length, at);
    }
}

static void parse(struct connection *from, double at) {
    size_t done = 0;
    while (from->used - done >= 2) {
        const unsigned char *head = (unsigned char *)from->data + done;
        size_t start = 2, length = head[1] & 127;
        if (length == 126) {
            start = 4;
            if (from->used - done < start) break;
            length = head[2] << 8 | head[3];
        } else if (length == 127) {
            start = 10;
            if (from->used - done < start) break;
            length = 0;
            for (int i = 2; i < 10; i++) length = length << 8 | head[i];
        }
        if (from->used - done < start + length) break;
        take_frame(from, head[0] & 15, (char *)head + start, length, at);
        done += start + length;
    }
    if (done) memmove(from->data, from->data + done, from->used -= done);
}

/* Reads what is there. 0: nothing. */
static int receive(struct connection *from) {
    if (from->size - from->used < 65536) from->data = realloc(from->data, from->size = from->size * 2 + 131072);
    ssize_t length = read(from->fd, from->data + from->used, from->size - from->used);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (length <= 0) die("the host ended a connection");
    from->used += length;
    from->bytes += length;
    parse(from, now());
    return 1;
}

/* Beginning */

static double begin(struct connection *made, int index, int is_stalled) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    made->fd = socket(AF_INET, SOCK_STREAM, 0);
    int small = STALLED_BUFFER, on = 1;
    if (is_stalled) setsockopt(made->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(made->fd, (struct sockaddr *)&address, sizeof address)) die("connect: %s", strerror(errno));
    setsockopt(made->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char text[1024];
    int length = snprintf(text, sizeof text,
        "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", path, host, port);
    write_all(made->fd, text, length);
    made->data = malloc(made->size = 131072);
    char *end = NULL;
    while (!end) {
        ssize_t got = read(made->fd, made->data + made->used, made->size - made->used);
        if (got <= 0) die("no answer to the upgrade");
        made->used += got;
        end = memmem(made->data, made->used, "\r\n\r\n", 4);
    }
    if (memcmp(made->data, "HTTP/1.1 101", 12)) die("no upgrade: %.*s", (int)made->used, made->data);
    made->used -= end + 4 - made->data;
    memmove(made->data, end + 4, made->used);
    char *said = strdup(greeting);
    number_into(said, "#index##", FIRST + index);
    unsigned char *framed = malloc(strlen(said) + 16);
    made->waiting_greeting = 1;
    double before = now();
    write_all(made->fd, framed, frame(framed, 1, said, strlen(said)));
    while (made->waiting_greeting) receive(made);
    double took = now() - before;
    free(said);
    free(framed);
    if (fcntl(made->fd, F_SETFL, O_NONBLOCK)) die("fcntl: %s", strerror(errno));
    return took;
}

/* Sending: the lead's frames for the numbers from `first` up to `past`, in one write. */

static unsigned char *outgoing;
static size_t outgoing_size, outgoing_used;

static void flush_outgoing(void) {
    while (outgoing_used) {
        ssize_t written = write(connections[0].fd, outgoing, outgoing_used);
        if (written < 0) {
            if (errno == EAGAIN || errno == EINTR) return;
            die("write: %s", strerror(errno));
        }
        memmove(outgoing, outgoing + written, outgoing_used -= written);
    }
}

static void send_numbers(long long first, long long past, double at) {
    static char *made;
    size_t length = strlen(message);
    if (!made) made = malloc(length + 1);
    for (long long number = first; number < past; number++) {
        memcpy(made, message, length + 1);
        number_into(made, "#number#", FIRST + number);
        if (outgoing_size - outgoing_used < length + 16)
            outgoing = realloc(outgoing, outgoing_size = outgoing_size * 2 + length + 65536);
        outgoing_used += frame(outgoing + outgoing_used, 1, made, length);
        sent_at[number] = rate > 0 ? sent_at[0] + number / rate : at;
    }
    flush_outgoing();
}

static long long slowest(void) {
    long long least = count;
    for (int i = 0; i < total - stalled; i++)
        if (connections[i].received < least) least = connections[i].received;
    return least;
}

static void run(int poll) {
    long long sent = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    sent_at[0] = now();
    double progress = sent_at[0];
    for (;;) {
        long long least = slowest();
        if (least == count) return;
        double at = now();
        long long until = count;
        if (rate > 0) {
            long long due = (long long)((at - sent_at[0]) * rate) + 1;
            if (due < until) until = due;
        } else if (least + window < until) {
            until = least + window;
        }
        if (until > sent) {
            send_numbers(sent, until, at);
            sent = until;
        }
        if (rate > 0 && sent < count) {
            double wait = sent_at[0] + sent / rate - now();
            if (wait < 1e-6) wait = 1e-6;
            struct itimerspec next = {.it_value = {(time_t)wait, (long)((wait - (time_t)wait) * 1e9)}};
            timerfd_settime(timer, 0, &next, NULL);
        }
        flush_outgoing();
        struct epoll_event events[256];
        int found = epoll_wait(poll, events, 256, outgoing_used ? 1 : 1000);
        for (int i = 0; i < found; i++) {
            if (!events[i].data.ptr) {
                uint64_t ignored;
                if (read(timer, &ignored, sizeof ignored) < 0 && errno != EAGAIN) die("timer: %s", strerror(errno));
            } else if (receive(events[i].data.ptr)) {
                progress = at;
            }
        }
        if (now() - progress > PATIENCE) die("nothing came for %d s; %lld of %lld are everywhere", PATIENCE, least, count);
    }
}

/* Results */

static int by_size(const void *one, const void *other) {
    float a = *(const float *)one, b = *(const float *)other;
    return (a > b) - (a < b);
}

static void print_delays(const char *name, float *values, size_t length) {
    qsort(values, length, sizeof *values, by_size);
    printf("\"%s\":{\"p50\":%.9f,\"p95\":%.9f,\"p99\":%.9f,\"max\":%.9f}", name, values[length / 2],
           values[length * 95 / 100], values[length * 99 / 100], values[length - 1]);
}

int main(void) {
    read_plan();
    if (!greeting || !message || !count || (!window && rate <= 0)) die("the plan lacks something");
    total = 1 + subscribers + stalled;
    connections = calloc(total, sizeof *connections);
    float *greetings = calloc(total, sizeof *greetings);
    sent_at = calloc(count, sizeof *sent_at);
    delays = malloc(sizeof *delays * count * (1 + subscribers));
    int poll = epoll_create1(0);
    for (int i = 0; i < total; i++) {
        greetings[i] = begin(&connections[i], i, i > subscribers);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (i <= subscribers) epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &event);
    }
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF) return 1;
    memset(delays, 0, sizeof *delays * count * (1 + subscribers)); /* the pages are ours before the clock runs */
    double before = now(), used = cpu();
    run(poll);
    double seconds = now() - before;
    used = cpu() - used;
    long long bytes = 0, received = 0;
    for (int i = 0; i < total; i++) bytes += connections[i].bytes, received += connections[i].received;
    printf("{\"seconds\":%.6f,\"cpu\":%.6f,\"received\":%lld,\"bytes\":%lld,", seconds, used, received, bytes);
    print_delays("greetings", greetings, total);
    putchar(',');
    print_delays("delays", delays, delay_count);
    puts("}");
    return 0;
}
