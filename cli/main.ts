#!/usr/bin/env node
import { enablePrivateCache } from './enable-private-cache.ts'

enablePrivateCache()

const { runProgram } = await import('./program.ts')
process.exitCode = await runProgram(process.argv.slice(2))
