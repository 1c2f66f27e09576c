import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ConfigInvalid, loadConfig, type Config } from './config.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'parkway-config-'))
})

afterAll(() => {
  rmSync(directory, { recursive: true, force: true })
})

beforeEach(() => {
  for (const name of ['parkway.config.json', 'parkway.config.yaml', 'parkway.config.yml'])
    rmSync(join(directory, name), { force: true })
})

type Sources = Parameters<typeof loadConfig>[0]

const load = (environment: Record<string, string> = {}, sources: Partial<Sources> = {}): Config =>
  loadConfig({ environment, directory, ...sources })

const write = (name: string, content: string | object) =>
  writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content))

function problemsOf(work: () => unknown): readonly string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems
    throw error
  }
  throw new Error('expected the configuration to be refused')
}

describe('defaults', () => {
  it('are those of the documentation', () => {
    expect(load()).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      processes: 1,
      dataDir: './data',
      databaseUrl: null,
      bootstrapKey: null,
      bootstrapCreditUsd: 10,
      corsOrigins: [],
      trustedProxies: [],
    })
  })

  it('apply to empty variables', () => {
    expect(load({ PORT: '', HOST: ' ', OPENAI_API_KEY: '' })).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      providers: new Map(),
    })
  })

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(load())).toBe(true)
  })
})

describe('precedence', () => {
  it('is flag, then environment, then file, then default', () => {
    write('parkway.config.json', { port: 1001, host: 'file', data_dir: 'file' })
    const config = load({ PORT: '1002', HOST: 'environment' }, { flags: { port: '1003' } })
    expect([config.port, config.host, config.dataDir, config.processes]).toEqual([
      1003,
      'environment',
      'file',
      1,
    ])
  })

  it('applies to providers too, member by member', () => {
    write('parkway.config.json', {
      providers: {
        openai: { api_key: 'file-key', base_url: 'http://file/v1' },
        groq: { api_keys: ['one', 'two'] },
        xai: { api_key: 'x', allow_members: ['search_parameters'] },
        // A server of the operator may get any member.
        vllm: { base_url: 'http://file/v1', allow_members: ['chat_template', 'future'] },
      },
    })
    const { providers } = load({ OPENAI_API_KEY: 'a, b,,a' })
    expect(providers.get('openai')).toEqual({ apiKeys: ['a', 'b', 'a'], baseUrl: 'http://file/v1' })
    expect(providers.get('groq')).toEqual({ apiKeys: ['one', 'two'], baseUrl: null })
    expect(providers.get('xai')).toEqual({
      apiKeys: ['x'],
      baseUrl: null,
      allowedMembers: ['search_parameters'],
    })
  })
})

describe('the file', () => {
  it('is JSON or YAML, found by its name', () => {
    write('parkway.config.yaml', 'port: 1234\ncors_origins:\n  - https://a.example\n  - https://b.example\n')
    expect(load()).toMatchObject({ port: 1234, corsOrigins: ['https://a.example', 'https://b.example'] })
    write('parkway.config.json', { port: 4321 })
    expect(load().port).toBe(4321)
  })

  it('can be named by a flag or a variable', () => {
    write('other.yml', 'port: 5555')
    expect(load({}, { file: 'other.yml' }).port).toBe(5555)
    expect(load({ PARKWAY_CONFIG_FILE: join(directory, 'other.yml') }).port).toBe(5555)
  })

  it('may have a $schema member', () => {
    write('parkway.config.json', { $schema: 'https://example.com/schema.json', port: null })
    expect(load().port).toBe(8080)
  })

  it('is refused with a reason if it is missing, unreadable or not an object', () => {
    expect(problemsOf(() => load({}, { file: 'nowhere.json' }))).toEqual([
      expect.stringMatching(/^nowhere\.json cannot be read: /),
    ])
    write('parkway.config.json', '{"port": ')
    expect(problemsOf(() => load())).toEqual([
      expect.stringMatching(/^parkway\.config\.json cannot be read: /),
    ])
    write('parkway.config.json', '[1]')
    expect(problemsOf(() => load())).toEqual(['parkway.config.json must hold an object'])
  })

  it('is refused for every key that is not a setting', () => {
    write('parkway.config.json', {
      prot: 1,
      dataDir: 'x',
      providers: {
        openai: { key: 'x' },
        groq: 'gsk',
        mistral: { api_keys: [7] },
        xai: { base_url: 7 },
        zai: { allow_members: 'store' },
        moonshot: { api_key: 'x', allow_members: ['temperature'] },
      },
    })
    expect(problemsOf(() => load())).toEqual([
      'prot in the configuration file is not a setting',
      'dataDir in the configuration file is not a setting',
      'providers.openai in the configuration file has the unknown key key',
      'providers.groq in the configuration file must be an object with api_key, api_keys or base_url',
      'providers.mistral in the configuration file: api_keys must be a list of texts, or of objects with api_key',
      'providers.xai in the configuration file: base_url must be a text',
      'providers.zai in the configuration file: allow_members must be a list of texts',
      "providers.moonshot in the configuration file: allow_members names 'temperature', which is not held back",
    ])
  })

  it('is refused for a value of the wrong type, like a variable', () => {
    write('parkway.config.json', { port: 'many', log_prompts: 'perhaps', host: { a: 1 }, processes: [1, 2] })
    const named = problemsOf(() => load()).map((problem) => problem.split(' ', 1)[0])
    expect(new Set(named)).toEqual(new Set(['host', 'port', 'processes', 'log_prompts']))
  })
})

describe('invalid values', () => {
  const bad: Record<string, string> = {
    PORT: '65536',
    PARKWAY_PROCESSES: '0',
    DATABASE_URL: 'mysql://somewhere/secret',
    PARKWAY_STATEMENT_TIMEOUT_MS: '1.5',
    PARKWAY_BOOTSTRAP_CREDIT_USD: '-3',
    LOG_LEVEL: 'loud',
    PARKWAY_LOG_PROMPTS: 'yes',
    PARKWAY_PUBLIC_URL: 'gateway',
    PARKWAY_TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.0/',
    OPENAI_BASE_URL: 'ftp://example.com',
  }

  it('are all reported at once, each with its name, the value and the allowed values', () => {
    const problems = problemsOf(() => load(bad))
    expect(problems).toHaveLength(Object.keys(bad).length)
    for (const name of Object.keys(bad))
      expect(problems.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1)
    expect(problems).toContain('PORT is "65536"; it must be a whole number from 0 to 65535')
    expect(problems).toContain('LOG_LEVEL is "loud"; it must be one of silent, error, warn, info, debug')
    expect(problems).toContain('PARKWAY_LOG_PROMPTS is "yes"; it must be true or false')
    expect(problems).toContain(
      'OPENAI_BASE_URL is "ftp://example.com"; it must be a URL with http:// or https://',
    )
  })

  it('invalid values of a key are reported with the form of a key', () => {
    expect(problemsOf(() => load({ PARKWAY_BOOTSTRAP_KEY: 'pk-dev-short' }))).toEqual([
      expect.stringMatching(/^PARKWAY_BOOTSTRAP_KEY is a secret; it must be a key of the form pk-<live\|/),
    ])
    const key = 'pk-live-abcdefghijklmnopqrstuvwxyz0'
    expect(load({ PARKWAY_BOOTSTRAP_KEY: key }).bootstrapKey).toBe(key)
  })

  it('invalid values of a secret are not shown', () => {
    const [problem] = problemsOf(() => load({ DATABASE_URL: 'mysql://u:hunter2@db/x' }))
    expect(problem).toBe('DATABASE_URL is a secret; it must be a URL with postgres:// or postgresql://')
  })

  it.each(['0x10', '1e3', 'Infinity', 'NaN', '-1', '80.0', '8 080'])('a port of %j is refused', (port) => {
    expect(problemsOf(() => load({ PORT: port }))).toHaveLength(1)
  })

  it.each(['1e2', '0.0000000001', '1,000', '$5', '.5'])('an amount of %j is refused', (amount) => {
    expect(problemsOf(() => load({ PARKWAY_BOOTSTRAP_CREDIT_USD: amount }))).toHaveLength(1)
  })

  it('are reported with the name of their flag', () => {
    expect(problemsOf(() => load({ PORT: '80' }, { flags: { port: 'x' } }))).toEqual([
      '--port is "x"; it must be a whole number from 0 to 65535',
    ])
  })
})

describe('providers', () => {
  it.each([
    ['OPENAI_API_KEY', 'openai'],
    ['GROQ_API_KEY', 'groq'],
    ['DEEPSEEK_API_KEY', 'deepseek'],
    ['MISTRAL_API_KEY', 'mistral'],
    ['XAI_API_KEY', 'xai'],
    ['MOONSHOT_API_KEY', 'moonshot'],
    ['ZAI_API_KEY', 'zai'],
    ['MINIMAX_API_KEY', 'minimax'],
    ['TOGETHER_API_KEY', 'together'],
    ['FIREWORKS_API_KEY', 'fireworks'],
    ['OPENROUTER_API_KEY', 'openrouter'],
    ['CEREBRAS_API_KEY', 'cerebras'],
    ['ANTHROPIC_API_KEY', 'anthropic'],
    ['GOOGLE_API_KEY', 'google'],
    ['GEMINI_API_KEY', 'google'],
    ['FAL_API_KEY', 'fal'],
    ['FAL_KEY', 'fal'],
    ['REPLICATE_API_TOKEN', 'replicate'],
    ['BFL_API_KEY', 'black-forest-labs'],
    ['LUMA_API_KEY', 'luma'],
    ['ARK_API_KEY', 'bytedance'],
  ])('%s configures %s', (name, id) => {
    expect(load({ [name]: 'k' }).providers).toEqual(new Map([[id, { apiKeys: ['k'], baseUrl: null }]]))
  })

  it.each(['DASHSCOPE_API_KEY', 'ALIBABA_API_KEY'])(
    '%s configures both providers of the vendor, text and video',
    (name) => {
      expect([...load({ [name]: 'k' }).providers.keys()]).toEqual(['dashscope', 'alibaba'])
    },
  )

  it('with a key of two parts have both, in the same order', () => {
    const environment = { KLINGAI_ACCESS_KEY: 'a1,a2', KLINGAI_SECRET_KEY: 's1, s2' }
    expect(load(environment).providers.get('klingai')?.apiKeys).toEqual(['a1:s1', 'a2:s2'])
    expect(problemsOf(() => load({ KLINGAI_ACCESS_KEY: 'a1' }))).toEqual([
      'KLINGAI_SECRET_KEY must have as many keys as KLINGAI_ACCESS_KEY',
    ])
  })

  it.each(['VLLM', 'LLAMACPP', 'OLLAMA', 'LMSTUDIO', 'TGI'])('%s_BASE_URL alone is enough', (prefix) => {
    const { providers } = load({ [`${prefix}_BASE_URL`]: 'http://10.0.0.1:8000/v1' })
    expect(providers.get(prefix.toLowerCase())).toEqual({ apiKeys: [], baseUrl: 'http://10.0.0.1:8000/v1' })
  })

  it('with an unknown name and without an address are an error', () => {
    write('parkway.config.json', { providers: { opnai: { api_key: 'k' } } })
    expect(problemsOf(() => load())).toEqual([
      'providers.opnai in the configuration file is not a known provider; one of your own needs base_url',
    ])
  })

  it('with a custom name are read from the file', () => {
    write('parkway.config.json', { providers: { 'my-cluster': { base_url: 'http://gpu:8000/v1' } } })
    expect(load().providers.get('my-cluster')).toEqual({ apiKeys: [], baseUrl: 'http://gpu:8000/v1' })
  })
})
