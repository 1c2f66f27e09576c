type WriteSnippet = (origin: string, key: string) => string

interface Connection<Id extends string> {
  readonly value: Id
  readonly label: string
  readonly language: string
  readonly note: string
  readonly write: WriteSnippet
}

const MODEL = 'gpt-5.6'

const define = <Id extends string>(connection: Connection<Id>): Connection<Id> => connection

/** Programs that work with this gateway, and what they need to know. */
export const CONNECTIONS = [
  define({
    value: 'curl',
    label: 'curl',
    language: 'bash',
    note: 'Any HTTP client works.',
    write: (origin, key) => `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${MODEL}", "messages": [{"role": "user", "content": "Hello"}]}'`,
  }),
  define({
    value: 'python',
    label: 'OpenAI for Python',
    language: 'python',
    note: 'pip install openai.',
    write: (origin, key) => `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${MODEL}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
  }),
  define({
    value: 'typescript',
    label: 'OpenAI for TypeScript',
    language: 'typescript',
    note: 'npm install openai.',
    write: (origin, key) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' })
const answer = await client.chat.completions.create({
  model: '${MODEL}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
  }),
  define({
    value: 'claude-code',
    label: 'Claude Code',
    language: 'bash',
    note: 'It speaks the Messages API of this gateway.',
    write: (origin, key) => `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=${key}
claude`,
  }),
  define({
    value: 'codex',
    label: 'Codex',
    language: 'bash',
    note: 'It speaks the Responses API of this gateway.',
    write: (origin, key) => `export PARKWAY_API_KEY=${key}
codex -c model=${MODEL} -c model_provider=parkway \\
  -c 'model_providers.parkway={name="Parkway", base_url="${origin}/v1", env_key="PARKWAY_API_KEY", wire_api="responses"}'`,
  }),
  define({
    value: 'langchain',
    label: 'LangChain',
    language: 'python',
    note: 'pip install langchain-openai.',
    write: (origin, key) => `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="${MODEL}", base_url="${origin}/v1", api_key="${key}")
print(model.invoke("Hello").content)`,
  }),
] as const

export type ConnectionId = (typeof CONNECTIONS)[number]['value']
