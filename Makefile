# Every command of the project. `make` alone lists them.
SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
NODE := "$(CURDIR)/node_modules/.bin/node"

PROFILE ?= recorded
PORT ?=
TENANTS ?=
VERSION ?=
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run test check stack generate openapi bench compare clean

help: ## lists the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

setup: ## installs what is missing on this machine (run, test and the rest do it themselves)
	@scripts/setup.sh

run: ## the service on this machine, with a demo share over NFS, until Ctrl-C: PORT=8786 TENANTS=1
	@scripts/setup.sh run
	@exec $(NODE) server/run.ts $(if $(PORT),--port "$(PORT)") $(if $(TENANTS),--tenants)

test: ## every check and test there is
	@scripts/setup.sh test
	@exec $(NODE) scripts/test.ts

check: setup ## lint, types, generated code, imports, unused code
	@exec $(NODE) scripts/test.ts --static

stack: ## the service in the foreground: PROFILE=recorded|local|tenants PORT=8786
	@scripts/setup.sh run
	@exec $(NODE) server/stack.ts --profile "$(PROFILE)" $(if $(PORT),--port "$(PORT)")

generate: setup ## generated/ from openapi/
	@exec $(NODE) codegen/main.ts

openapi: setup ## one microversion's OpenAPI document, on standard output: VERSION=2.37
	@exec $(NODE) codegen/openapi.ts $(if $(VERSION),--version "$(VERSION)")

bench: setup ## speed, beside the reference
	@exec $(NODE) bench/main.ts

compare: setup ## answers beside the reference's, to requests drawn from the contract: ARGS="--seed 1 --runs 20"
	@exec $(NODE) contract-tests/compare/main.ts $(ARGS)

clean: ## removes what runs and tests left in .shoal, shares included
	@exec scripts/clean.sh
