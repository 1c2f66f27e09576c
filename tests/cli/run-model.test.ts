import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const read = (name: string) => readFile(join(home.directory, name))

test('a chat model answers a prompt, a system prompt or messages', async () => {
  const words = ['run', 'gpt-4o-mini', '-i', 'max_tokens:=60']
  const { code, stdout } = await home.run([...words, '-i', 'prompt=The word is quince.', '-i', 'system=Hm.'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('quince')])
  const messages = JSON.stringify([{ role: 'user', content: 'hi' }])
  const json = await home.run([...words, '--json', '-i', `messages:=${messages}`])
  expect(JSON.parse(json.stdout)).toMatchObject({ object: 'chat.completion' })
})

test('an image model makes files, and takes files', async () => {
  const made = await home.run(['run', 'gpt-image-2', '-i', 'prompt=Two cups', '-i', 'n:=2', '-o', 'cup.png'])
  expect([made.code, made.stdout]).toEqual([0, 'cup-1.png\ncup-2.png\n'])
  const [service] = (await gateway.request('GET', '/v1/models?category=upscale')).body.data
  const larger = await home.run(['run', service.id, '-i', 'image=@cup-1.png', '-o', 'large.png'])
  expect([larger.code, larger.stdout]).toEqual([0, 'large.png\n'])
  expect((await read('large.png')).subarray(1, 4).toString()).toBe('PNG')
})

test('a voice makes a file, which a model for recordings writes down', async () => {
  const inputs = ['-i', 'input=Hello and welcome', '-i', 'voice=alloy', '-i', 'response_format=wav']
  const spoken = await home.run(['run', 'tts-1', ...inputs, '-o', 'hello.wav'])
  expect([spoken.code, spoken.stdout]).toEqual([0, 'hello.wav\n'])
  const written = await home.run(['run', 'whisper-1', '-i', 'file=@hello.wav'])
  expect([written.code, written.stdout]).toEqual([0, 'Hello and welcome\n'])
})

test('other models answer with their JSON, and a text file is a value', async () => {
  await writeFile(join(home.directory, 'text.txt'), 'a text')
  const words = ['run', 'text-embedding-3-small', '-i', 'input=@text.txt', '-i', 'dimensions:=4']
  const { stdout } = await home.run(words)
  const { body } = await gateway.request('POST', '/v1/embeddings', {
    body: { model: 'text-embedding-3-small', input: 'a text', dimensions: 4 },
  })
  expect(JSON.parse(stdout)).toEqual(body)
})
