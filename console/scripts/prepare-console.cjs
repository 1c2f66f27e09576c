'use strict'

// npm runs this after every install, on any Node and also without development packages. It must never fail an install
// that does not need the console.
const { spawnSync } = require('child_process')
const { existsSync } = require('fs')
const { join } = require('path')

const NODE_MAJOR_MIN = 24
const root = join(__dirname, '..', '..')
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')

const obstacle = findObstacle()
if (obstacle === null) {
  const { status } = spawnSync(process.execPath, [vite, 'build', 'console', '--logLevel', 'warn'], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exitCode = status === null ? 1 : status
} else {
  process.stdout.write(`The console was not built: ${obstacle}\n`)
}

function findObstacle() {
  if (!existsSync(join(root, 'console', 'index.html'))) return 'its source is not here.'
  if (!existsSync(vite) || !existsSync(join(root, 'node_modules', 'react')))
    return 'development packages are not installed.'
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) return `it needs Node ${NODE_MAJOR_MIN}.`
  return null
}
