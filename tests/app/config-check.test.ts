import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWorkplace, type Workplace } from './workplace.ts'

const SECRETS = {
  DATABASE_URL: 'postgres://user:hunter2@db.example/parkway',
  PARKWAY_BOOTSTRAP_KEY: 'pk-dev-hunter2hunter2hunter2hunter2',
  PARKWAY_METRICS_TOKEN: 'hunter2-metrics',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hunter2',
  OPENAI_API_KEY: 'sk-hunter2',
}

let workplace: Workplace

beforeEach(() => {
  workplace = createWorkplace()
})
afterEach(() => workplace.clean())

/** Returns the printed values by their names in a configuration file. */
function settingsOf(stdout: string): Record<string, string> {
  return Object.fromEntries(
    stdout
      .split('\n')
      .map((line) => /^ {2}(\w+) +(.*)$/.exec(line))
      .flatMap((match) => (match ? [[match[1], match[2]]] : [])),
  )
}

it('a valid configuration is shown with its effective values, without secrets', async () => {
  const checked = await workplace.run(['config', 'check'], {
    environment: { ...SECRETS, LOG_LEVEL: 'debug' },
  })
  expect(checked).toMatchObject({ code: 0, stderr: '' })
  expect(checked.stdout).toMatch(/^The configuration is valid\./)
  expect(checked.stdout).not.toContain('hunter2')
  expect(settingsOf(checked.stdout)).toMatchObject({
    log_level: '"debug"',
    processes: '1',
    database_url: '(secret)',
    bootstrap_key: '(secret)',
    metrics_token: '(secret)',
    otlp_headers: '(secret)',
    providers: 'openai',
  })
})

it('flags override the environment, which overrides the file, which overrides the defaults', async () => {
  const yaml =
    'port: 1001\nhost: 10.0.0.1\nlog_level: warn\ncors_origins: [https://a.example, https://b.example]\n'
  workplace.write('gateway.yaml', yaml)
  const checked = await workplace.run(['config', 'check', '--config', 'gateway.yaml', '--port', '1003'], {
    environment: { PORT: '1002', HOST: '10.0.0.2' },
  })
  expect(checked).toMatchObject({ code: 0, stderr: '' })
  expect(settingsOf(checked.stdout)).toMatchObject({
    port: '1003',
    host: '"10.0.0.2"',
    log_level: '"warn"',
    cors_origins: '["https://a.example","https://b.example"]',
    data_dir: '"./data"',
  })
})

it('every problem is reported at once, with its name and the allowed values', async () => {
  workplace.write(
    'parkway.config.json',
    JSON.stringify({ prot: 1, processes: 0, providers: { openai: { api_key: 'sk-hunter2', url: 'x' } } }),
  )
  const checked = await workplace.run(['config', 'check'], {
    environment: {
      PORT: 'many',
      PARKWAY_BOOTSTRAP_KEY: 'hunter2',
      PARKWAY_TRUSTED_PROXIES: '10.0.0.0/8, proxy.example',
      DATABASE_URL: 'mysql://user:hunter2@db.example/parkway',
    },
  })
  expect(checked).toMatchObject({ code: 1, stdout: '' })
  expect(checked.stderr.split('\n').slice(1, -1).sort()).toEqual([
    '  - DATABASE_URL is a secret; it must be a URL with postgres:// or postgresql://',
    '  - PARKWAY_BOOTSTRAP_KEY is a secret; it must be a key of the form ' +
      'pk-<live|prod|staging|test|dev>-<at least 27 url-safe characters>',
    '  - PARKWAY_TRUSTED_PROXIES is "10.0.0.0/8, proxy.example"; it must be a list of addresses or networks such as ' +
      '10.0.0.7 or 10.0.0.0/8, separated by commas',
    '  - PORT is "many"; it must be a whole number from 0 to 65535',
    '  - processes in the configuration file is "0"; it must be a whole number from 1 to 256',
    '  - prot in the configuration file is not a setting',
    '  - providers.openai in the configuration file has the unknown key url',
  ])
  expect(checked.stderr).not.toContain('hunter2')
})

it('a catalog file that would stop a start is reported', async () => {
  const file = workplace.write('catalog.yaml', 'models: nothing\n')
  workplace.write('fine.json', '{}')
  const checked = await workplace.run(['config', 'check', '--config', 'fine.json'], {
    environment: { PARKWAY_CATALOG_FILE: file },
  })
  expect(checked).toMatchObject({ code: 1, stdout: '' })
  expect(checked.stderr).toContain(file)
})
