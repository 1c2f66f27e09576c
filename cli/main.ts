#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Compiling takes most of the time of a short command. The cache is the user's own: code from a shared directory could be anybody's.
enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'parkway', 'compiled'))

const { runProgram } = await import('./program.ts')
process.exitCode = await runProgram(process.argv.slice(2))
