import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from './logger.ts'

const SECRETS = {
  gatewayKey: 'pk-live-0123456789abcdefghijklmnopqrstuv',
  vendorKey: 'sk-proj-AbCdEf0123456789',
  bearer: 'eyJhbGciOi.payload.signature',
  password: 'hunter2hunter2',
  cookie: 'session=abcdef123456',
}

function openLog(options: Partial<LoggerOptions> = {}) {
  const file = join(mkdtempSync(join(tmpdir(), 'parkway-log-')), 'gateway.log')
  const logger = createLogger({ level: 'info', destination: file, ...options })
  const read = async () => {
    await logger.flush()
    return readFileSync(file, 'utf8')
  }
  return { logger, read }
}

const request = {
  requestId: 'req_1',
  method: 'POST',
  route: '/v1/chat/completions',
  status: 200,
  durationMs: 12.34567,
}

describe('logger', () => {
  test('no secret reaches the log, wherever it is', async () => {
    const { logger, read } = openLog()
    logger.info({ headers: { authorization: `Bearer ${SECRETS.bearer}`, cookie: SECRETS.cookie } }, 'headers')
    logger.info({ upstream: { apiKey: SECRETS.vendorKey, 'x-api-key': SECRETS.vendorKey } }, 'upstream')
    logger.info(
      { config: { apiKeys: [SECRETS.vendorKey, 'plain-secret-value'], password: SECRETS.password } },
      'config',
    )
    logger.warn({ url: `postgres://gateway:${SECRETS.password}@db.local/parkway` }, 'database')
    logger.warn({ url: `https://host.example/v1?key=${SECRETS.bearer}&x=1` }, 'query')
    logger.error(
      { err: new Error(`upstream said: bad key ${SECRETS.vendorKey}`) },
      `refused ${SECRETS.gatewayKey}`,
    )
    const text = await read()
    for (const secret of [...Object.values(SECRETS), 'plain-secret-value']) expect(text).not.toContain(secret)
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(6)
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg')
    expect(text).toContain('db.local/parkway')
    expect(text).toContain('upstream said: bad key')
  })

  test('scrubbing leaves ordinary lines unchanged', async () => {
    const { logger, read } = openLog()
    logger.info(
      { key_id: '0190', task: 'desk-top', tokens: 12, url: 'http://127.0.0.1:8080/docs' },
      'ask-me: anything',
    )
    expect(JSON.parse(await read())).toMatchObject({
      level: 'info',
      key_id: '0190',
      task: 'desk-top',
      tokens: 12,
      url: 'http://127.0.0.1:8080/docs',
      msg: 'ask-me: anything',
    })
  })

  test('an answered request is one line with account, route and duration, and never the prompt', async () => {
    const { logger, read } = openLog()
    logger.logAccess({
      ...request,
      accountId: 'account',
      keyId: 'key',
      model: 'gpt-test',
      provider: 'openai',
      attempts: 2,
      tokens: { prompt: 3, completion: 4 },
      prompt: 'my private question',
    })
    const text = await read()
    expect(text).not.toContain('private')
    expect(JSON.parse(text)).toMatchObject({
      request_id: 'req_1',
      method: 'POST',
      route: '/v1/chat/completions',
      status: 200,
      duration_ms: 12.346,
      account_id: 'account',
      key_id: 'key',
      model: 'gpt-test',
      provider: 'openai',
      attempts: 2,
      prompt_tokens: 3,
      completion_tokens: 4,
      msg: 'request',
    })
  })

  test('prompts are logged if the operator enables it, without keys in them', async () => {
    const { logger, read } = openLog({ logPrompts: true })
    logger.logAccess({ ...request, prompt: [{ role: 'user', content: `is ${SECRETS.vendorKey} valid` }] })
    const text = await read()
    expect(text).toContain('"role":"user"')
    expect(text).not.toContain(SECRETS.vendorKey)
  })

  test('lines below the level are not written', async () => {
    const { logger, read } = openLog({ level: 'warn' })
    logger.info({}, 'quiet')
    logger.logAccess(request)
    logger.warn({}, 'loud')
    expect((await read()).trimEnd().split('\n')).toHaveLength(1)
  })

  test('a terminal gets readable lines', async () => {
    const { logger, read } = openLog({ isPretty: true })
    logger.warn({ provider: 'groq', reason: 'timed out' }, 'upstream failed')
    expect(await read()).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}upstream failed provider=groq reason='timed out'\n$/,
    )
  })

  test.each([
    ['exits', 'process.exit(0)'],
    ['dies of an exception', "setImmediate(() => { throw new Error('crash') })"],
  ])('buffered lines are written when the process %s', (_, end) => {
    const script = `
      const { createLogger } = await import(${JSON.stringify(new URL('./logger.ts', import.meta.url).href)})
      const logger = createLogger({ level: 'info', flushIntervalMs: 60_000 })
      logger.info({ number: 1 }, 'last words')
      ${end}`
    const shell = ['-c', '"$0" --input-type=module -e "$1" || true', process.execPath, script]
    const output = execFileSync('/bin/sh', shell, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    expect(output).toContain('last words')
  })
})
