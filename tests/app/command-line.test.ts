import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createWorkplace, type Finished, type Workplace } from './workplace.ts'

const ROOT = new URL('../../', import.meta.url)
const LAUNCHER = fileURLToPath(new URL(manifest.bin.parkway, ROOT))

let workplace: Workplace

beforeAll(() => {
  workplace = createWorkplace()
})
afterAll(() => workplace.clean())

const parkway = (...words: string[]): Promise<Finished> => workplace.run(words, { main: LAUNCHER })

it('the launcher prints its version, and npm puts it on the path', async () => {
  expect(await parkway('--version')).toEqual({ code: 0, stdout: `parkway ${manifest.version}\n`, stderr: '' })
  expect(readFileSync(LAUNCHER, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
})

it('the launcher starts the gateway with the options of npm start', () => {
  const options = manifest.scripts.start.match(/--[\w-]+=\d+/g) ?? []
  expect(options.length).toBeGreaterThan(0)
  for (const option of options) expect(readFileSync(LAUNCHER, 'utf8')).toContain(`'${option}'`)
})

it('help lists the operator commands, and each has its own', async () => {
  const { code, stdout } = await parkway('--help')
  expect(code).toBe(0)
  expect(stdout).not.toContain('serve-process')
  const [, operators = ''] = /Run a gateway:\n([^]*?)\n\n/.exec(stdout) ?? []
  const listed = operators.split('\n').map((line) => line.slice(2, 18).trim())
  expect(listed).toEqual([
    'serve',
    'config check',
    'doctor',
    'upgrade check',
    'admin-key create',
    'sign-in-link',
    'backup',
    'restore',
    'take-over',
    'reseal',
    'forget-sealed',
    'ledger verify',
    'reconcile',
    'archive list',
    'archive verify',
    'archive read',
  ])
  for (const name of listed) {
    const help = await parkway(...name.split(' '), '--help')
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain(`Usage:\n  parkway ${name} `)
    const [, usage = '', options = ''] = /Usage:\n(.*)\n\nOptions:\n([^]*)$/.exec(help.stdout) ?? []
    for (const flag of usage.match(/--[a-z]+/g) ?? [])
      expect(options).toMatch(new RegExp(`^  ${flag}\\b`, 'm'))
  }
})

it.each([
  [[], 'A command is missing. See "parkway --help".'],
  [['sevre'], 'There is no command "sevre". Did you mean "parkway serve"? See "parkway --help".'],
  [
    ['admin-key'],
    'There is no command "admin-key". Did you mean "parkway admin-key create"? See "parkway --help".',
  ],
  [['serve', '--prot', '80'], 'Unknown option \'--prot\'. See "parkway serve --help".'],
  [['backup'], 'A backup needs the name of one file to write. See "parkway backup --help".'],
  [['restore', 'a', 'b'], 'A restore needs the name of one file to read. See "parkway restore --help".'],
  [['ledger', 'verify', 'it'], 'Unexpected argument \'it\'. See "parkway ledger verify --help".'],
  [
    ['ledger', 'verify', '--month', '2026-13'],
    '--month must be a month such as 2026-10. See "parkway ledger verify --help".',
  ],
  [
    ['archive', 'read', 'tasks'],
    'An archive is of usage_records or ledger_entries. See "parkway archive read --help".',
  ],
  [
    ['archive', 'read', 'usage_records', '--month', '2026-10', '--account', 'me'],
    '--account must be the id of an account. See "parkway archive read --help".',
  ],
  [['admin-key', 'create', '--scopes', 'root'], /^--scopes must be a list of inference, manage, admin/],
  [['admin-key', 'create', '--env', 'moon'], /^--env must be one of live, prod, staging, test, dev\./],
])('%j is an invalid command line', async (words, sentence) => {
  const { code, stdout, stderr } = await parkway(...words)
  expect([code, stdout]).toEqual([2, ''])
  const [, told = ''] = /^parkway: (.*)\n$/.exec(stderr) ?? []
  if (typeof sentence === 'string') expect(told).toBe(sentence)
  else expect(told).toMatch(sentence)
})
