import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { createWorkplace, type Workplace } from './workplace.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** What `npm pack` needs of a checkout. The copy keeps its builds away from those that other tests use. */
const SOURCES = [
  'package.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'bin',
  'cli',
  'src',
  'packaging',
  'api-types',
]
/** Building the console takes longer than everything else, so that `npm test` packs a page in its place. */
const PAGE = '<!doctype html><script type="module" src="/assets/page.js"></script>'
const run = promisify(execFile)

let workplace: Workplace
let installed: string

beforeAll(async () => {
  workplace = createWorkplace()
  const tarball = await packCheckout(workplace.path('checkout'))
  installed = await installPackage(tarball, workplace.path('empty'))
})
afterAll(() => workplace.clean())

describe('the package that npm pack makes', () => {
  it('has JavaScript with source maps, the console and no TypeScript', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(files).toContain('dist/cli/main.js')
    expect(files).toContain('dist/src/app/main.js.map')
    expect(files).toContain('dist/console/dist/index.html')
    expect(files.filter((file) => file.endsWith('.ts'))).toEqual([])
    expect(files.filter((file) => /\.test\.|^tests|^bench|node_modules/.test(file))).toEqual([])
  })

  it('runs a gateway in a data directory of choice, with the console and its threads and processes', async () => {
    const main = join(installed, 'bin/parkway.cjs')
    const dataDirectory = workplace.path('my-data')
    const environment = {
      PARKWAY_DATA_DIR: dataDirectory,
      HOME: workplace.directory,
      // Only programs that npm installs are needed.
      PATH: dirname(process.execPath),
    }
    const program = workplace.start(['serve', '--processes', longOr('2', '1')], { main, environment })
    const { url, key } = await program.ready()
    expect(existsSync(join(dataDirectory, 'postgres'))).toBe(true)
    const page = await fetch(`${url}/`, { headers: { accept: 'text/html' } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script type="module"')])
    const client = {
      main,
      environment: { ...environment, PARKWAY_BASE_URL: url, PARKWAY_API_KEY: key ?? '' },
    }
    expect(await workplace.run(['chat', 'hello'], client)).toMatchObject({ code: 0, stderr: '' })
    // The sandbox draws pictures in a thread of its own.
    const drawn = await workplace.run(['image', '-o', 'cup.png', 'A cup'], client)
    expect([drawn.code, drawn.stdout]).toEqual([0, 'cup.png\n'])
    program.kill('SIGTERM')
    expect((await program.exited).code).toBe(0)
  })
})

async function packCheckout(checkout: string): Promise<string> {
  const isBuilt = (path: string) =>
    ['console/dist', 'api-types/generated'].some((built) => path.endsWith(built))
  for (const name of longOr([...SOURCES, 'console'], SOURCES))
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true, filter: (path) => !isBuilt(path) })
  if (!longOr(true, false)) {
    mkdirSync(join(checkout, 'console/dist'), { recursive: true })
    cpSync(join(ROOT, 'console/scripts'), join(checkout, 'console/scripts'), { recursive: true })
    writeFileSync(join(checkout, 'console/dist/index.html'), PAGE)
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  const options = { cwd: checkout, maxBuffer: 64 * 1024 * 1024 }
  // npm would also run what it runs after an install, which builds the console a second time.
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  await run('sh', ['-c', scripts.prepack], options)
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts'], options)
  const name = /"filename": "([^"]+)"/.exec(stdout)?.[1]
  if (name === undefined) throw new Error(`npm pack named no file: ${stdout}`)
  return join(checkout, name)
}

/** Puts the package where npm would, with links to the packages of the checkout, because tests reach no registry. */
async function installPackage(tarball: string, directory: string): Promise<string> {
  const modules = join(directory, 'node_modules')
  const target = join(modules, 'parkway')
  mkdirSync(target, { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
  return target
}
