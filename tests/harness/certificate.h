/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh self-signed certificate for an hour, in files. */
#pragma once

struct certificate {
    char file[40];
    char key_file[40];
};

/* `names` as OpenSSL writes them: "DNS:localhost,IP:127.0.0.1". NULL: it has a common
 * name alone, localhost. */
void certificate_init(struct certificate *c, const char *names);
void certificate_done(const struct certificate *c); /* removes the files */
