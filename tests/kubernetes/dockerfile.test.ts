import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const readLines = (name: string) =>
  readFileSync(join(ROOT, name), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

/** An image of the Dockerfile: its name and its instructions in order. */
interface Stage {
  readonly name: string | null
  readonly steps: readonly Step[]
}

interface Step {
  readonly word: string
  readonly argument: string
}

const stages: readonly Stage[] = readLines('Dockerfile').reduce<Stage[]>((found, line) => {
  const [, word = '', argument = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
  if (word === 'FROM') return [...found, { name: / AS (\S+)$/.exec(argument)?.[1] ?? null, steps: [] }]
  const last = found.at(-1)
  if (last === undefined) throw new Error('the Dockerfile begins without FROM')
  return [...found.slice(0, -1), { ...last, steps: [...last.steps, { word, argument }] }]
}, [])

/** Returns the sources and the target of a COPY, and the stage that it copies from, or null for the repository. */
function parseCopy({ argument }: Step) {
  const [, from = null, rest = ''] = /^(?:--from=(\S+) +)?(.*)$/.exec(argument) ?? []
  const words = rest.split(/ +/)
  return { from, sources: words.slice(0, -1), target: words.at(-1) ?? '' }
}

const copiesOf = ({ steps }: Stage) => steps.filter(({ word }) => word === 'COPY').map(parseCopy)

/** Returns whether the build context contains a path. Everything is excluded, except the names that `.dockerignore` lists. */
function isInContext(path: string): boolean {
  const patterns = readLines('.dockerignore')
  const [first = ''] = path.split('/')
  const isExcluded = patterns.some((pattern) => path === pattern || path.startsWith(`${pattern}/`))
  return patterns[0] === '**' && patterns.includes(`!${first}`) && !isExcluded
}

/** What is copied from another image, and the command there that makes it. */
const BUILT = new Map([
  ['/usr/local/bin/node', 'npm ci'],
  ['/app/node_modules', 'npm ci'],
  ['/app/console/dist', 'npm run build:console'],
])

describe('the Dockerfile', () => {
  test('copies only files that are in the repository and in the build context', () => {
    const sources = stages
      .flatMap(copiesOf)
      .filter(({ from }) => from === null)
      .flatMap((copy) => copy.sources)
    expect(sources.length).toBeGreaterThan(5)
    for (const source of sources)
      expect([source, existsSync(join(ROOT, source)), isInContext(source)]).toEqual([source, true, true])
  })

  test('copies from another image only what that image builds', () => {
    const copies = stages.flatMap(copiesOf).filter(({ from }) => from !== null)
    expect(copies.length).toBeGreaterThan(0)
    for (const { from, sources } of copies) {
      const stage = stages.find(({ name }) => name === from)
      const made = BUILT.get(sources.join(' '))
      expect([
        from,
        sources,
        stage?.steps.some(({ argument }) => argument.startsWith(made ?? 'nothing')),
      ]).toEqual([from, sources, true])
    }
  })

  test('has the settings that those of the console extend before it builds the console', () => {
    const [, base = ''] =
      /"extends": "([^"]+)"/.exec(readFileSync(join(ROOT, 'console/tsconfig.json'), 'utf8')) ?? []
    const stage = stages.find(({ name }) => name === 'console')
    const copied = stage === undefined ? [] : copiesOf(stage).flatMap(({ sources }) => sources)
    expect(copied).toContain(posix.join('console', base))
  })

  test('contains the program that the launcher starts', () => {
    const launcher = readFileSync(join(ROOT, 'bin/parkway.cjs'), 'utf8')
    const [, folder = ''] = /join\(__dirname, '\.\.', '([a-z]+)', /.exec(launcher) ?? []
    const last = stages.at(-1)
    const copied = last === undefined ? [] : copiesOf(last).flatMap(({ sources }) => sources)
    expect(copied).toEqual(expect.arrayContaining(['bin', folder, 'src']))
  })

  test('has everything that npm needs before it installs', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const prepare: string[] = scripts.prepare
      .split(' && ')
      .map((command: string) => command.replace('node ', ''))
    expect(prepare.filter((script) => !existsSync(join(ROOT, script)))).toEqual([])
    for (const { steps } of stages) {
      if (!steps.some(({ argument }) => argument.startsWith('npm ci'))) continue
      const at = steps.findIndex(({ word, argument }) => word === 'RUN' && argument.startsWith('npm ci'))
      const copied = steps
        .slice(0, at)
        .filter(({ word }) => word === 'COPY')
        .flatMap((step) => parseCopy(step).sources)
      const needed = ['package.json', 'package-lock.json', '.npmrc']
      if (steps[at]?.argument.includes('--ignore-scripts') === false) needed.push(...prepare)
      expect(needed.filter((name) => !copied.includes(name))).toEqual([])
    }
  })

  test('contains the program and all the code that it imports', () => {
    const last = stages.at(-1)
    const targets = last === undefined ? [] : copiesOf(last).map(({ target }) => target)
    const [, program = ''] =
      /^\["node", "(\S+)"\]$/.exec(last?.steps.find(({ word }) => word === 'ENTRYPOINT')?.argument ?? '') ??
      []
    expect([existsSync(join(ROOT, program)), targets.includes(posix.dirname(program))]).toEqual([true, true])
    // Tests and what they use are not in the image.
    const files = globSync('src/**/*.ts', { cwd: ROOT }).filter(
      (path) => !path.endsWith('.test.ts') && !path.includes('/testing/'),
    )
    const missing = files.filter((path) =>
      /^import(?! type).*from '[^']*\/testing\//m.test(readFileSync(join(ROOT, path), 'utf8')),
    )
    expect([files.length > 100, missing]).toEqual([true, []])
  })
})
