#!/usr/bin/env node
import "./dist/cli/create.js";
