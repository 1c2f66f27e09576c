import { expect, test } from 'vitest'
import { ConversationKeeper } from '../../console/src/pages/playground/saved/conversation-keeper.ts'
import { searchFromKept } from '../../console/src/pages/playground/saved/kept-parameters.ts'

test('what somebody shares sets the parameters of a prompt, and neither asks a second model nor opens anything else', () => {
  const parameters = { system: 'In rhymes', beside: 'a-dear-model', saved: 'another', kind: 'image' }
  const search = searchFromKept('gpt-5.6', parameters)
  expect(search).toMatchObject({ model: 'gpt-5.6', system: 'In rhymes' })
  for (const name of ['beside', 'saved', 'kind']) expect(search).not.toHaveProperty(name)
})

test('what was said is kept in its conversation, also where another one is opened before it is written', async () => {
  const keeper = new ConversationKeeper()
  const first = Promise.withResolvers<string>()
  const seen: (string | null)[] = []
  const note = async (id: string | null): Promise<string> => {
    seen.push(id)
    return id ?? 'made'
  }
  const written = [keeper.keep(() => first.promise), keeper.keep(note)]
  keeper.begin('shared')
  written.push(keeper.keep(note))
  first.resolve('private')
  await Promise.all(written)
  await keeper.keep(note)
  expect(seen).toEqual(['private', 'shared', 'shared'])
})

test('a conversation that could not be kept does not keep the next one from being kept', async () => {
  const keeper = new ConversationKeeper()
  await expect(keeper.keep(() => Promise.reject(new Error('no room')))).rejects.toThrow('no room')
  const seen: (string | null)[] = []
  await keeper.keep(async (id) => {
    seen.push(id)
    return 'made'
  })
  expect(seen).toEqual([null])
})
