import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'

const PRICE = 'unit: token\ninput_usd_per_1m: 3\noutput_usd_per_1m: 15\n'
const PRICE_LIST = JSON.stringify({
  'gpt-5.4': {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: 3e-6,
    output_cost_per_token: 15e-6,
  },
})
export const OUR_LLAMA = {
  id: 'our-llama',
  name: 'Our Llama',
  vendor: 'Meta',
  category: 'llm',
  price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 1 },
  routes: [{ provider: 'groq', model: 'llama' }],
}

interface Home {
  run(words: readonly string[]): Promise<{ readonly stdout: string }>
}

/** Writes the files that examples of the command line name, and saves the card that one of them charges. */
export async function writeExampleFiles(directory: string, home: Home): Promise<void> {
  await home.run(['auto-topup', 'set', '--threshold', '1', '--amount', '5', '--ceiling', '10'])
  const { stdout } = await home.run(['auto-topup', 'save-card'])
  await fetch(`${stdout.trim()}/save/4242`, { method: 'POST', redirect: 'manual' })
  const picture = sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
  for (const name of ['room.png', 'small.png', 'cup.jpg']) await picture.toFile(join(directory, name))
  await home.run(['speak', '-o', join(directory, 'talk.mp3'), 'Hello and welcome'])
  await writeFile(join(directory, 'notes.jsonl'), '{"text": "one"}\n{"text": "two"}\n')
  await writeFile(join(directory, 'answers.txt'), 'Send it back within a month.\nWe open at nine.\n')
  // JSON is YAML too.
  await writeFile(join(directory, 'our-llama.yaml'), JSON.stringify(OUR_LLAMA))
  await writeFile(join(directory, 'network.yaml'), 'timeouts: { first_byte_ms: 30000 }\n')
  await writeFile(join(directory, 'changes.yaml'), 'context_tokens: 4096\n')
  await writeFile(join(directory, 'price.yaml'), PRICE)
  await writeFile(join(directory, 'prices.json'), PRICE_LIST)
  await writeFile(join(directory, 'wanted.yaml'), 'parkway: 1\n')
  await writeFile(join(directory, 'prompts.txt'), 'Why is the sky blue?\nWhy is grass green?\n')
  const body = { model: 'gpt-5.4-mini', messages: [{ role: 'user', content: 'Hi' }] }
  const line = { custom_id: 'one', method: 'POST', url: '/v1/chat/completions', body }
  await writeFile(join(directory, 'requests.jsonl'), JSON.stringify(line))
  await writeFile(join(directory, 'capitals.csv'), 'prompt,expected\nThe capital of France?,Paris\n')
}
