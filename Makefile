# SPDX-License-Identifier: GPL-2.0
# The user's front door; `make help` lists what it can do.
# What the kernel's build needs to know is in Kbuild.

KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
# Staged installs (DESTDIR) take the modules along.
INSTALL_MOD_PATH ?= $(DESTDIR)
VERSION	:= $(shell sed -n 's/^.define CSIG_VERSION\s*"\(.*\)"/\1/p' include/csig/version.h)

VM	:= selftests/vm/vm
TOOLS	:= $(patsubst %/Makefile,%,$(wildcard tools/lib/Makefile) \
	   $(filter-out tools/lib/Makefile,$(wildcard tools/*/Makefile)))

# Read by the scripts in selftests/vm; RUN exactly as the user wrote it.
override export RUN := $(value RUN)
export KERNEL SHARE TIMEOUT TESTS JOBS V VECTORS

.PHONY: all help headers modules modules_install tools install dkms-install demo \
	check shell vm bench-qcn unit fuzz check-style regen clean distclean

all: modules tools

help:
	@sed -n 's/^#: \?//p' Makefile

#: Usage: make [TARGET] [VARIABLE=value]...
#:
#: On this machine, for the running kernel (or KDIR=DIR); W=1 C=1 as usual:
#:   all              modules and tools (default)
#:   modules          csig.ko and sch_qcn.ko
#:   tools            csigctl with the BPF programs, and the plugins for tc
#:   install          both, with manual pages (DESTDIR= PREFIX= INSTALL_MOD_PATH=)
#:   dkms-install     the module through DKMS: rebuilt for every new kernel
modules: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

modules_install: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(INSTALL_MOD_PATH) \
		modules_install
ifeq ($(INSTALL_MOD_PATH),)
	depmod -a $$(cat $(KDIR)/include/config/kernel.release)
endif

headers:
	@[ -d $(KDIR) ] || { \
		echo "No kernel headers in $(KDIR): install linux-headers-$$(uname -r)"; \
		echo "or say where others are: KDIR=DIR. \"make tools\" needs none."; \
		exit 1; \
	} >&2

tools:
	+@set -e; for dir in $(TOOLS); do $(MAKE) -C $$dir all; done

install: modules_install
	+@set -e; for dir in $(TOOLS); do \
		$(MAKE) -C $$dir install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX); \
	done

dkms-install:
	@command -v dkms >/dev/null || \
		{ echo "dkms is missing: apt install dkms" >&2; exit 1; }
	mkdir -p /usr/src/csig-$(VERSION)
	cp -r Kbuild Makefile LICENSE dkms.conf include src \
		/usr/src/csig-$(VERSION)
	dkms install csig/$(VERSION)

#:
#: In a virtual machine that is made for it (KERNEL=stable|newest|debug):
#:   demo             the life of a CSIG packet
#:   check            all tests, or TESTS="a.sh b.sh"
#:   shell            an interactive shell
#:   vm               one command: RUN='command' [SHARE=DIR: seen at /mnt/share]
#:                    [TIMEOUT=seconds]; V=1 shows the compiler's output
demo check shell:
	@$(VM) $@

vm:
	@$(VM) run

#:   bench-qcn        QCN measured against other queues, half an hour: build/bench/qcn.json,
#:                    samples and figures in build/bench/qcn/
bench-qcn:
	@$(VM) $@

#:
#: In the Debian 13 root of that machine:
#:   unit             tests of the pure code [VECTORS=DIR]
#:   fuzz             its fuzzers
#:   check-style      the style gate
#:   regen            write the generated netlink files again
unit fuzz check-style regen:
	@$(VM) $@

#:
#:   clean            remove what was compiled here
#:   distclean        also build/ (the cache of roots stays)
clean:
	[ ! -d $(KDIR) ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	+@set -e; for dir in $(TOOLS) bpf; do $(MAKE) -C $$dir clean; done

distclean: clean
	rm -rf build
