import { execFile } from 'node:child_process'

/** The longest first, so that the others run beside it. */
const CHECKS = ['check:own-types', 'check:lint', 'check:unused', 'check:format']
const AT_ONCE = 2

/**
 * The compiler and the linter are programs in Go. Each of their threads checks the types that it meets anew, and the collection of
 * garbage takes a fifth: with one thread each, and with more room, both take two thirds of the processor's time.
 */
const ENVIRONMENT = { ...process.env, GOMAXPROCS: '1', GOGC: '400' }

// The linter reads types too: it must not begin before the types of the API are written.
if (!(await run('build:api-types'))) process.exit(1)

/** Runs the static checks side by side, and prints what each of them says when it has ended. */
const waiting = [...CHECKS]
await Promise.all(Array.from({ length: AT_ONCE }, work))

async function work(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    if (!(await run(check))) process.exitCode = 1
  }
}

function run(script: string): Promise<boolean> {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: ENVIRONMENT }
    execFile('npm', ['run', '--silent', script], options, (error, stdout, stderr) => {
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      if (error !== null) process.stderr.write(`${script} failed.\n`)
      done(error === null)
    })
  })
}
