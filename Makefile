# SPDX-License-Identifier: MIT
#
# make demo    install what is missing, build, run the main job in a throw-away vault
# make test    install what is missing, build, lint, run every test a change must pass
# make nightly the same at full size, then make fuzz (libFuzzer on what reads what others wrote) and make mutants
# make mutants takes each check out, and says which test noticed (half an hour; ONLY='21 30-40': these)
# make build   the released programs, in .build/release
# make docs    the documentation of the two libraries, in .build/docs
# make bench   speed and size beside pass, KeePassXC, gnome-keyring and age (QUICK=1: three minutes)

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
SWIFTC := $(shell readlink -f "$$(command -v $(SWIFT))" 2>/dev/null)
TOOLCHAIN ?= $(patsubst %/bin/,%,$(dir $(SWIFTC)))
MACHINE := $(shell uname -m)
EMBEDDED := $(TOOLCHAIN)/lib/swift/embedded/$(MACHINE)-unknown-linux-gnu
OUT := .build/release
MAN1 := kura.1 kura-agent.1 kura-desktop.1 kura-ui.1
MAN5 := kura-format.5 kura-json.5 kura-protocol.5
MAN7 := kura-start.7 kura-helpers.7 kura-security.7
# The names under which other programs look for a helper of theirs.
LINKS := git-credential-kura docker-credential-kura cargo-credential-kura kura-askpass
UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/user
AUTOSTART := $(DESTDIR)$(PREFIX)/share/kura
SHELLS := $(DESTDIR)$(PREFIX)/share

STRIP := -Xlinker -s
STATIC_PIE := -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static-pie \
  -Xlinker -z -Xlinker now $(STRIP)
COMMON := -c release --disable-local-rpath --explicit-target-dependency-import-check error -Xswiftc -gnone

# KURA_SHARED=1 links the distribution's shared libraries instead (for packagers).
ifdef KURA_SHARED
ENGINE := $(COMMON) --static-swift-stdlib -Xlinker -z -Xlinker now -Xlinker -s
STRENGTH := $(ENGINE)
else
# By the sources: what a file left that is gone or has another name now stays in the build directory.
DESKTOP = kura_desktop.build/Desktop.swift.o $(foreach module,KuraDesktop KuraClient KuraProtocol KuraTerms SecureMemory \
  CKuraSystem,$(patsubst %,$(module).build/%.o,$(notdir $(shell find Sources/$(module) -name '*.swift' -o -name '*.c'))))
ENGINE := $(COMMON) -Xswiftc -static-executable $(STATIC_PIE)
# Debian's libzxcvbn.a is no position-independent code.
STRENGTH := $(COMMON) -Xswiftc -static-executable -Xswiftc -use-ld=lld -Xlinker -z -Xlinker now -Xlinker -s
endif

# The client starts with every command, so it links musl: glibc's start-up asks the processor about
# its caches, and each such CPUID leaves a virtual machine (0.4 ms a process, measured).
MUSL := /usr/lib/$(MACHINE)-linux-musl
ifneq ($(wildcard $(MUSL)/rcrt1.o),)
# Its start leaves the relocated tables writable, so that to set them apart (RELRO) costs pages and protects nothing.
# Swift asks for -pie, too, which beside -static-pie and -nostdlib does nothing, and clang would say so.
LIBC := -Xcc -isystem -Xcc /usr/include/$(MACHINE)-linux-musl -Xswiftc -Xclang-linker -Xswiftc -nostdlib \
  -Xswiftc -Xclang-linker -Xswiftc -Wno-unused-command-line-argument -Xlinker $(MUSL)/rcrt1.o -Xlinker $(MUSL)/libc.a \
  -Xlinker -z -Xlinker norelro
else
LIBC := -Xlinker -lm
endif

# A section a function, and those together that a start runs: a third fewer pages to map. `make startup` lists them.
STARTUP := Benchmarks/startup.txt
SECTIONS := -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections -Xlinker --gc-sections \
  -Xlinker --symbol-ordering-file=$(CURDIR)/$(STARTUP) -Xlinker --no-warn-symbol-ordering

# A short command's memory is in the program (heap.c), and the pages that it writes are mapped in one call (entry.c).
HEAP := -Xcc -DKURA_FIRST_HEAP -Xlinker --wrap=posix_memalign -Xlinker --wrap=free
ifeq ($(MACHINE),x86_64)
HEAP += -Xlinker --entry=kura_entry
endif

# Without an Embedded standard library the ordinary build of the client is the fallback.
ifneq ($(wildcard $(EMBEDDED)/libswiftUnicodeDataTables.a),)
CLIENT_ENV := KURA_EMBEDDED=1
CLIENT := $(COMMON) $(STATIC_PIE) $(SECTIONS) $(HEAP) -Xlinker $(EMBEDDED)/libswiftUnicodeDataTables.a $(LIBC)
else
CLIENT_ENV :=
CLIENT := $(ENGINE)
endif

.PHONY: all packages build programs engine desktop strength client startup debug demo docs test nightly fuzz mutants bench lint install install-units install-completions clean

all: build

packages:
	@.ci/packages build

# A second make: what this one found missing may have been installed meanwhile.
build: packages
	@$(MAKE) --no-print-directory programs

programs: engine desktop strength client
	@mkdir -p $(OUT)
	@install -m 755 $(addprefix .build/engine/release/kura-,agent desktop ui) \
	  .build/strength/release/kura-strength .build/embedded/release/kura $(OUT)

# A scratch path each, so that make -j builds them side by side.
engine:
	@$(SWIFT) build $(ENGINE) --product kura-agent --scratch-path .build/engine
	@$(SWIFT) build $(ENGINE) --product kura-ui --scratch-path .build/engine

# Of sd-bus there is no static library: compiled with what it shares with the agent, linked with the
# distribution's libraries.
desktop: engine
ifdef KURA_SHARED
	@$(SWIFT) build $(ENGINE) --product kura-desktop --scratch-path .build/engine
else
	@$(SWIFT) build $(ENGINE) --target kura-desktop --scratch-path .build/engine
	@cd .build/engine/release && $(TOOLCHAIN)/bin/swiftc -static-stdlib -use-ld=lld -o kura-desktop \
	  $(DESKTOP) -lsystemd $(foreach flag,-z now -s --gc-sections --defsym=main=kura_desktop_main,-Xlinker $(flag))
endif

strength:
	@$(SWIFT) build $(STRENGTH) --product kura-strength --scratch-path .build/strength

client:
	@$(CLIENT_ENV) $(SWIFT) build $(CLIENT) --product kura --scratch-path .build/embedded

startup: build
	@.ci/packages bench
	@$(MAKE) --no-print-directory client STRIP='-Xlinker --strip-debug'
	@python3 Benchmarks/startup.py .build/embedded/release/kura $(OUT)/kura-agent $(STARTUP)

demo: build
	@Fixtures/scripts/demo.sh $(OUT)

debug: packages
	@$(SWIFT) build --build-tests --explicit-target-dependency-import-check error

# Of the modules that the two libraries are made of, and nothing else.
docs: packages
	@$(SWIFT) build --target KuraVault
	@$(SWIFT) build --target KuraClient
	@.ci/docs .build/debug .build/docs

lint: packages
	@.ci/packages test
	@.ci/lint

test: packages
	@.ci/packages test
	@.ci/test

nightly: packages
	@.ci/packages test nightly
	@KURA_NIGHTLY=1 .ci/test
	@.ci/fuzz
	@.ci/mutants

fuzz: packages
	@.ci/fuzz

mutants: packages
	@.ci/packages test
	@.ci/mutants $(ONLY)

bench: build
	@.ci/packages bench
	@Benchmarks/run $(OUT) .build/bench

install: build install-units install-completions
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/kura
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/man/man,1 5 7)
	install -m 755 $(OUT)/kura $(addprefix $(OUT)/kura-,agent desktop ui) $(DESTDIR)$(PREFIX)/bin
	for link in $(LINKS); do ln -sf kura $(DESTDIR)$(PREFIX)/bin/$$link; done
	install -m 755 $(OUT)/kura-strength $(DESTDIR)$(PREFIX)/libexec/kura
	install -m 644 $(addprefix man/,$(MAN1)) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(addprefix man/,$(MAN5)) $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(addprefix man/,$(MAN7)) $(DESTDIR)$(PREFIX)/share/man/man7

# What the shells ask at each Tab comes from the program.
install-completions: build
	install -d $(SHELLS)/bash-completion/completions $(SHELLS)/zsh/site-functions \
	  $(SHELLS)/fish/vendor_completions.d
	$(OUT)/kura completion bash > $(SHELLS)/bash-completion/completions/kura
	$(OUT)/kura completion zsh > $(SHELLS)/zsh/site-functions/_kura
	$(OUT)/kura completion fish > $(SHELLS)/fish/vendor_completions.d/kura.fish

# The units name the programs by their places, and so does what a session without systemd starts.
install-units:
	install -d $(UNITS) $(AUTOSTART)
	install -m 644 systemd/kura-agent.socket systemd/kura-agent.service systemd/kura-desktop.service $(UNITS)
	install -m 644 systemd/kura-desktop.desktop $(AUTOSTART)
	sed -i 's|/usr/local/bin/|$(PREFIX)/bin/|' $(UNITS)/kura-agent.service $(UNITS)/kura-desktop.service \
	  $(AUTOSTART)/kura-desktop.desktop

clean:
	rm -rf .build
