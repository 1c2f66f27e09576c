import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

/** Runs `tests/invoice/` for a time of your choice: `npm run test:invoice -- --minutes 30 --seed 7`. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' }, case: { type: 'string' } },
})

const minutes = Number(values.minutes)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run test:invoice -- [--minutes 30] [--seed 7] [--case 42]\n')
  process.exit(2)
}

const child = spawn('vitest', ['run', '--config', 'tests/invoice/vitest.config.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PARKWAY_INVOICE_MINUTES: String(minutes),
    PARKWAY_INVOICE_SEED: String(seed),
    ...(values.case === undefined ? {} : { PARKWAY_INVOICE_CASE: values.case }),
  },
})
child.on('exit', (code) => process.exit(code ?? 1))
