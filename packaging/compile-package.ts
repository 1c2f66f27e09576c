import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const TARGET = join(ROOT, 'dist')

/** tsc rewrites the names in imports, but not the addresses of programs that are started as threads or processes. */
const PROGRAM_ADDRESS = /new URL\('([^']+)\.ts', import\.meta\.url\)/g

/** Writes what `npm pack` puts into the package: JavaScript, because Node strips no types under `node_modules`. */
function compilePackage(): void {
  rmSync(TARGET, { recursive: true, force: true })
  runNode('api-types/generate-api-types.ts')
  runNode('node_modules/typescript/bin/tsc', '-p', 'packaging')
  for (const path of listFiles('dist')) if (path.endsWith('.js')) rewriteAddresses(path)
  for (const path of listFiles('src')) if (!path.endsWith('.ts')) copy(path)
  copy('package.json')
  runNode('console/scripts/prepare-console.cjs')
  copy('console/dist')
}

function rewriteAddresses(path: string): void {
  const source = readFileSync(path, 'utf8')
  const rewritten = source.replaceAll(PROGRAM_ADDRESS, "new URL('$1.js', import.meta.url)")
  const left = /^(?!\s*(?:\*|\/\/|\/\*)).*\.ts'/m.exec(rewritten)
  if (left !== null) throw new Error(`${path} names a file that the package does not have: ${left[0].trim()}`)
  if (rewritten !== source) writeFileSync(path, rewritten)
}

const runNode = (...words: string[]): void => {
  execFileSync(process.execPath, words, { cwd: ROOT, stdio: 'inherit' })
}

const copy = (path: string): void => cpSync(join(ROOT, path), join(TARGET, path), { recursive: true })

function listFiles(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath.slice(ROOT.length + 1), entry.name))
}

compilePackage()
