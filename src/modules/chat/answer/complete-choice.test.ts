import { describe, expect, it } from 'vitest'
import { completeChoice, type ChoiceForm } from './complete-choice.ts'

const complete = (choice: Record<string, unknown>, form: ChoiceForm, index = 0) => ({
  isChanged: completeChoice(choice, index, form),
  choice,
})

describe('completeChoice', () => {
  it.each<[ChoiceForm, Record<string, unknown>]>([
    [
      'message',
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, tool_calls: [] },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    ['delta', { index: 3, delta: {}, logprobs: { content: [] }, finish_reason: null }],
    ['delta', { index: 0, delta: { content: 'x' }, finish_reason: 'stop', logprobs: null }],
    ['text', { index: 0, text: 'x', logprobs: null, finish_reason: null }],
  ])('leaves a complete %s unchanged', (form, choice) => {
    expect(complete(structuredClone(choice), form)).toEqual({ isChanged: false, choice })
  })

  it('adds missing members to a message', () => {
    expect(complete({ message: { content: 'x' } }, 'message', 2)).toEqual({
      isChanged: true,
      choice: {
        index: 2,
        message: { role: 'assistant', content: 'x', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    })
    expect(complete({}, 'message').choice).toEqual({
      index: 0,
      message: { role: 'assistant', content: null, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    })
  })

  it('does not mark a chunk as the last', () => {
    expect(complete({}, 'delta').choice).toEqual({ index: 0, delta: {}, logprobs: null, finish_reason: null })
    expect(complete({}, 'text').choice).toEqual({ index: 0, text: '', logprobs: null, finish_reason: null })
  })

  it('uses one name for reasoning and loses none', () => {
    const both = { reasoning: 'short', reasoning_content: 'long' }
    expect(complete({ index: 0, delta: both, finish_reason: null }, 'delta').choice).toEqual({
      index: 0,
      delta: { reasoning_content: 'long' },
      logprobs: null,
      finish_reason: null,
    })
  })
})
