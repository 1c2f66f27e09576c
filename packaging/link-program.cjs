'use strict'

// npm runs this after every install in a checkout, on any Node. npm links the programs of dependencies, but not that of
// the project itself, which `npx parkway` therefore installs into a cache first: two seconds at each call.
const { mkdirSync, rmSync, symlinkSync } = require('fs')
const { join } = require('path')

const directory = join(__dirname, '..', 'node_modules', '.bin')
const link = join(directory, 'parkway')

try {
  mkdirSync(directory, { recursive: true })
  rmSync(link, { force: true })
  symlinkSync(join('..', '..', 'bin', 'parkway.cjs'), link)
} catch (error) {
  // `npx parkway` works without it, so the install goes on.
  process.stdout.write(`node_modules/.bin/parkway was not linked: ${error.message}\n`)
}
