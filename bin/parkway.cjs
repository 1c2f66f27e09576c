#!/usr/bin/env node
'use strict'

// Runs on any Node, so that it can say which one is missing: the gateway itself needs Node 24.
const { spawn } = require('child_process')
const { existsSync } = require('fs')
const { constants } = require('os')
const { join } = require('path')
const { pathToFileURL } = require('url')

const NODE_MAJOR_MIN = 24
/** As in `npm start`. */
const SERVE_OPTIONS = ['--min-semi-space-size=16', '--initial-old-space-size=256', '--v8-pool-size=1']
const PASSED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']

const isRecent = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN
const words = process.argv.slice(2)
const main = findProgram()
if (isRecent && words[0] !== 'serve') void import(pathToFileURL(main).href)
else startWithRuntime(findRuntime())

/** TypeScript in a checkout, JavaScript in an installed package. */
function findProgram() {
  const source = join(__dirname, '..', 'cli', 'main.ts')
  return existsSync(source) ? source : join(__dirname, '..', 'dist', 'cli', 'main.js')
}

/** The Node that npm brought with the gateway, or the one that runs this. */
function findRuntime() {
  try {
    return require.resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return isRecent ? process.execPath : null
  }
}

function startWithRuntime(executable) {
  if (executable === null) {
    process.stderr.write(
      `parkway: This is Node ${process.versions.node}; Parkway needs Node ${NODE_MAJOR_MIN}. Install it, or run "npm ci".\n`,
    )
    process.exitCode = 1
    return
  }
  const options = words[0] === 'serve' ? SERVE_OPTIONS : []
  const child = spawn(executable, [...options, main, ...words], { stdio: 'inherit' })
  for (const signal of PASSED_SIGNALS) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`parkway: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 128 + constants.signals[signal]
    // The handlers above keep nothing open, and nothing is left to wait for.
    process.exit()
  })
}
