// SPDX-License-Identifier: GPL-2.0
/*
 * csigctl doctor: what is missing, and what to do about it.  It looks and changes
 * nothing, it does not even load the module.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <csig/version.h>

#include "doctor.h"
#include "output.h"

static const char help[] =
	"Usage: csigctl doctor [ digest HEX ] [ profile FILE ]\n"
	"where  digest is the 16 digits of \"csigctl domain show\" on another device,\n"
	"       profile is what \"csigctl domain export\" wrote there.\n"
	"Status 0: no FAIL.\n";

static unsigned int fails;

void doctor_say(enum verdict v, const char *check, const char *dev,
		const char *fmt, ...)
{
	static const char *const words[] = { "OK", "WARN", "FAIL" };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fails += v == FAIL;
	out_open_object(NULL);
	out_str("status", "%-4s  ", words[v]);
	out_str("check", "%s", check);
	if (dev)
		out_str("dev", " %s", dev);
	else
		out_null("dev", NULL);
	out_str("message", ": %s\n", text);
	out_close_object();
}

static bool read_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "r");
	bool ok = f && fgets(buf, (int)size, f);

	if (f)
		fclose(f);
	if (!ok)
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

/* Where depmod knows a csig.ko for a kernel release */
static bool find_module(const char *release, char *path, size_t size)
{
	char deps[512], *line = NULL, *colon, *base;
	bool found = false;
	size_t len = 0;
	FILE *f;

	snprintf(deps, sizeof(deps), "/lib/modules/%s/modules.dep", release);
	f = fopen(deps, "r");
	while (f && !found && getline(&line, &len, f) >= 0) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		base = strrchr(line, '/');
		base = base ? base + 1 : line;
		if (strncmp(base, "csig.ko", 7) || (base[7] && base[7] != '.'))
			continue;
		snprintf(path, size, "/lib/modules/%s/%s", release, line);
		found = true;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool find_other_module(const char *release, char *path, size_t size)
{
	DIR *d = opendir("/lib/modules");
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		if (e->d_name[0] != '.' && strcmp(e->d_name, release))
			found = find_module(e->d_name, path, size);
	if (d)
		closedir(d);
	return found;
}

/* Does this kernel refuse modules without a signature? */
static bool signature_enforced(const char **by)
{
	char buf[256];

	if (read_line("/sys/module/module/parameters/sig_enforce", buf,
		      sizeof(buf)) && buf[0] == 'Y') {
		*by = "module.sig_enforce";
		return true;
	}
	if (read_line("/sys/kernel/security/lockdown", buf, sizeof(buf)) &&
	    (strstr(buf, "[integrity]") || strstr(buf, "[confidentiality]"))) {
		*by = "lockdown (Secure Boot)";
		return true;
	}
	return false;
}

static void check_signature(bool loaded)
{
	const char *by = NULL;
	char taint[32];

	if (!signature_enforced(&by)) {
		doctor_say(OK, "signature", NULL,
			   "the kernel takes modules without a signature");
		return;
	}
	if (!loaded) {
		doctor_say(WARN, "signature", NULL,
			   "%s refuses unsigned modules: sign csig.ko with a key that is enrolled (mokutil --import, then kmodsign or DKMS)",
			   by);
		return;
	}
	read_line("/sys/module/csig/taint", taint, sizeof(taint));
	doctor_say(strchr(taint, 'E') ? WARN : OK, "signature", NULL,
		   strchr(taint, 'E') ? "the module is not signed, %s will refuse it next time" :
					"the module is signed, as %s wants it", by);
}

/* Status: may the netlink family be asked? */
static bool check_module(void)
{
	struct utsname u;
	char path[768];

	uname(&u);
	if (!access("/sys/module/csig", F_OK)) {
		doctor_say(OK, "module", NULL, "loaded");
		return true;
	}
	if (find_module(u.release, path, sizeof(path)))
		doctor_say(FAIL, "module", NULL,
			   "installed as %s, not loaded; try: modprobe csig",
			   path);
	else if (find_other_module(u.release, path, sizeof(path)))
		doctor_say(FAIL, "module", NULL,
			   "not installed for this kernel, %s; there is %s; build it again: make install, or dkms autoinstall",
			   u.release, path);
	else
		doctor_say(FAIL, "module", NULL,
			   "not installed for this kernel, %s; in the sources: make && make install",
			   u.release);
	return false;
}

/* May BPF programs call the module? It says so, and its BTF must be there. */
static void check_btf(void)
{
	char kfuncs[8];

	read_line("/sys/module/csig/parameters/kfuncs", kfuncs, sizeof(kfuncs));
	if (!access("/sys/kernel/btf/csig", F_OK) && kfuncs[0] == 'Y')
		doctor_say(OK, "btf", NULL,
			   "/sys/kernel/btf/csig, kfuncs for BPF programs");
	else if (!access("/sys/kernel/btf/csig", F_OK))
		doctor_say(WARN, "btf", NULL,
			   "the kernel did not take the kfuncs of the module, \"host enable\" can't work; dmesg says why");
	else if (!access("/sys/kernel/btf/vmlinux", F_OK))
		doctor_say(WARN, "btf", NULL,
			   "the module was built without BTF, BPF programs can't use it; build it where the kernel headers have a vmlinux and pahole is installed");
	else
		doctor_say(WARN, "btf", NULL,
			   "this kernel has no BTF, BPF programs can't use the module");
}

static void check_domain(const struct domain *d, const char *digest,
			 const char *profile)
{
	struct csig_profile p;
	char ours[20];

	if (strcmp(d->version, CSIG_VERSION))
		doctor_say(FAIL, "version", NULL,
			   "csigctl is %s, the module is %s; install both from one source",
			   CSIG_VERSION, d->version);
	else
		doctor_say(OK, "version", NULL, "%s", CSIG_VERSION);
	snprintf(ours, sizeof(ours), "%016llx", (unsigned long long)d->digest);
	if (digest && strcasecmp(digest, ours))
		doctor_say(FAIL, "digest", NULL,
			   "%s here, %s wanted: the profiles differ; compare \"csigctl domain export\" of both",
			   ours, digest);
	else if (!profile)
		doctor_say(OK, "digest", NULL, "%s", ours);
	if (!profile)
		return;
	if (profile_read(profile, &p))
		doctor_say(FAIL, "digest", NULL, "%s can't be read", profile);
	else if (csig_profile_digest(&p) != d->digest)
		doctor_say(FAIL, "digest", NULL,
			   "%s here, %016llx in %s; try: csigctl domain import %s",
			   ours, (unsigned long long)csig_profile_digest(&p),
			   profile, profile);
	else
		doctor_say(OK, "digest", NULL, "%s, as in %s", ours, profile);
}

static int check_all(const char *digest, const char *profile)
{
	bool loaded = check_module();
	struct domain d;

	check_signature(loaded);
	if (!loaded)
		return ST_KERNEL;
	check_btf();
	if (domain_get(&d)) {
		doctor_say(FAIL, "netlink", NULL,
			   "the module does not answer as csigctl expects; install both from one source");
		return ST_KERNEL;
	}
	check_domain(&d, digest, profile);
	doctor_ports();
	doctor_host();
	return fails ? ST_KERNEL : ST_OK;
}

int do_doctor(struct args *a)
{
	const char *digest = NULL, *profile = NULL;
	int status;

	if (arg_wants_help(a)) {
		fputs(help, stdout);
		return ST_OK;
	}
	while (a->argc) {
		if (!digest && arg_is(a, "digest")) {
			if (arg_value(a, "digest", &digest))
				return ST_USAGE;
			if (strlen(digest) != 16 ||
			    strspn(digest, "0123456789abcdefABCDEF") != 16)
				return usage(a, "digest \"%s\" is not 16 hex digits",
					     digest);
		} else if (!profile && arg_is(a, "profile")) {
			if (arg_value(a, "profile", &profile))
				return ST_USAGE;
		} else {
			return arg_unknown(a);
		}
	}
	fails = 0;
	out_open_array(NULL);
	status = check_all(digest, profile);
	doctor_qcn();
	out_close_array();
	return status || !fails ? status : ST_KERNEL;
}
