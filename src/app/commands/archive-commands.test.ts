import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Payer } from '../../modules/ledger/ledger.ts'
import { createArchiveStage, type ArchiveStage } from '../../modules/ledger/testing/archive-stage.ts'
import { archiveList } from './archive-list.ts'
import { archiveRead } from './archive-read.ts'
import { archiveVerify } from './archive-verify.ts'
import type { Command } from './command.ts'

const AUGUST = Date.UTC(2025, 7, 10)

let stage: ArchiveStage
let payer: Payer

beforeAll(async () => {
  stage = await createArchiveStage()
  payer = await stage.createPayer(1_000n)
  const other = await stage.createPayer(1_000n)
  await stage.charge(payer, 11n, AUGUST)
  await stage.charge(payer, 12n, AUGUST + 1)
  await stage.charge(other, 13n, AUGUST + 2)
  await stage.backdateEntries('2025-08-10')
  await stage.archive()
})
afterAll(() => stage.close())

beforeEach(() => {
  // The environment of the test run has names of its own.
  for (const name of Object.keys(process.env)) if (name.startsWith('PARKWAY_')) vi.stubEnv(name, undefined)
  vi.stubEnv('DATABASE_URL', stage.connectionString)
  vi.stubEnv('PARKWAY_DATA_DIR', stage.dataDir)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Runs a command in this process, and returns its code and what it printed. */
async function run(command: Command, ...words: string[]): Promise<{ code: number; printed: string }> {
  let printed = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  try {
    return { code: await command.run(words), printed }
  } finally {
    write.mockRestore()
  }
}

test('the archives are listed with their rows and files', async () => {
  const { code, printed } = await run(archiveList)
  expect(code).toBe(0)
  expect(printed.split('\n')).toEqual([
    expect.stringMatching(/^2025-08 {2}ledger_entries {2}complete {2}10 rows {2}\d+ bytes in 3 files$/),
    expect.stringMatching(/^2025-08 {2}usage_records {3}complete {2}3 rows {2}\d+ bytes in 1 files$/),
    '',
  ])
})

test('the rows of an account are printed with all digits, as JSON lines and as CSV', async () => {
  const words = ['usage_records', '--month', '2025-08', '--account', payer.accountId.toUpperCase()]
  const json = await run(archiveRead, ...words)
  const rows = json.printed.trimEnd().split('\n')
  expect(rows.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      cost_nano_usd: 11,
      created_at: '2025-08-10T00:00:00.000000Z',
      first_token_ms: null,
    }),
    expect.objectContaining({ cost_nano_usd: 12, created_at: '2025-08-10T00:00:00.001000Z' }),
  ])
  const csv = await run(archiveRead, 'ledger_entries', '--month', '2025-08', '--format', 'csv')
  const lines = csv.printed.split('\r\n')
  expect(lines[0]).toBe('id,key,account_id,book,kind,amount_nano_usd,reason,created_at,charges')
  expect(lines).toHaveLength(12)
  expect(
    lines.filter((line) => line.includes(',credit,charge,-11,,2025-08-10T12:00:00.123456Z,')),
  ).toHaveLength(1)
})

test('a month that is not archived is an error', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  expect(await run(archiveRead, 'usage_records', '--month', '2025-07')).toEqual({ code: 1, printed: '' })
  expect(said).toHaveBeenCalledWith('usage_records of 2025-07 are not archived.\n')
  said.mockRestore()
})

test('the archives are read back, and a changed file fails the command', async () => {
  expect(await run(archiveVerify)).toEqual({
    code: 0,
    printed: 'holds   ledger_entries of 2025-08: 10 rows\nholds   usage_records of 2025-08: 3 rows\n',
  })
  const folder = join(stage.directory, 'usage_records/month=2025-08')
  const part = (await readdir(folder)).find((name) => name.startsWith('part-')) ?? expect.unreachable()
  await writeFile(join(folder, part), 'short')
  const { code, printed } = await run(archiveVerify, '--month', '2025-08')
  expect(code).toBe(1)
  expect(printed).toContain(
    `BROKEN  usage_records of 2025-08: 3 rows\n          usage_records/month=2025-08/${part}: it has 5 bytes, and`,
  )
})
