import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { HOLES, type Hole } from './holes.ts'
import { removeDirectory } from '../../support/remove-directory.ts'

/**
 * Shows that the invoice finds every hole it was built for: makes each mistake again in a copy of the checkout and runs the
 * invoice until it finds work that was given away. Before a full run, the checkout as it is must show none.
 * `npm run test:holes -- --only revoked --minutes 5`
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '4' },
    seed: { type: 'string', default: '27' },
    only: { type: 'string', default: '' },
  },
})

const ROOT = resolve(import.meta.dirname, '../../..')
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', 'data'])
/** What the invoice says of work that was given away, and of a ledger that is wrong. */
const FINDING = /but the vendor invoices|are not covered/

const CLOSED: Hole = { name: 'the checkout as it is', guards: [] }

const early = values.only === '' ? await lookFor(CLOSED) : null
if (early !== null) {
  process.stdout.write(`${CLOSED.name} gives work away: ${early}\n`)
  process.exit(1)
}

let missed = 0
for (const hole of HOLES.filter(({ name }) => name.includes(values.only))) {
  const finding = await lookFor(hole)
  if (finding === null) missed += 1
  process.stdout.write(
    `${finding === null ? 'missed' : 'found '}  ${hole.name}: ${finding ?? values.minutes + ' minutes'}\n`,
  )
}
process.exit(missed === 0 ? 0 : 1)

/** Returns how the invoice found the hole, or null. */
async function lookFor(hole: Hole): Promise<string | null> {
  const copy = await mkdtemp(join(tmpdir(), 'parkway-hole-'))
  try {
    await cp(ROOT, copy, { recursive: true, filter: (path) => path === ROOT || !SKIPPED.has(basename(path)) })
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    for (const guard of hole.guards) await takeOut(guard, copy)
    const startedMs = performance.now()
    const output = await runInvoice(copy)
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    const cases = [...output.matchAll(/^round \d+: (\d+) cases/gm)].at(-1)?.[1]
    const problem = output.split('\n').find((line) => FINDING.test(line))
    return problem === undefined ? null : `${cases} cases, ${seconds} s, ${problem.replace(/^[+\s]+/, '')}`
  } finally {
    await removeDirectory(copy)
  }
}

async function takeOut({ file, edits }: Hole['guards'][number], directory: string): Promise<void> {
  const path = join(directory, file)
  let text = await readFile(path, 'utf8')
  for (const [before, after] of edits) {
    if (!text.includes(before)) throw new Error(`${file} has changed: it has no ${JSON.stringify(before)}`)
    text = text.replace(before, () => after)
  }
  await writeFile(path, text)
}

function runInvoice(directory: string): Promise<string> {
  return new Promise((done) => {
    const child = spawn('vitest', ['run', '--config', 'tests/invoice/vitest.config.ts', '--no-color'], {
      cwd: directory,
      env: {
        ...process.env,
        NO_COLOR: '1',
        FORCE_COLOR: '0',
        PARKWAY_INVOICE_MINUTES: values.minutes,
        PARKWAY_INVOICE_SEED: values.seed,
        PARKWAY_INVOICE_FAILURES_MAX: '1',
      },
    })
    let output = ''
    const add = (bytes: Buffer) => {
      output += bytes.toString()
    }
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    child.on('close', () => done(output))
  })
}
