import { describe, expect, test } from 'vitest'
import { hasBillingLine, withoutBillingLine } from './billing-line.ts'

const LINE = 'x-anthropic-billing-header: cc_version=2.1.325.48f; cc_entrypoint=cli; cch=71fea;'
const text = (value: string) => ({ type: 'text', text: value })

describe('the billing line of Claude Code', () => {
  test('is the first block of the instructions, or its first line', () => {
    const rest = { ...text('Be brief'), cache_control: { type: 'ephemeral' } }
    expect(withoutBillingLine([text(LINE), rest])).toEqual([rest])
    expect(withoutBillingLine([text(LINE)])).toEqual([])
    expect(withoutBillingLine([{ ...rest, text: `${LINE}\nBe brief\n` }])).toEqual([
      { ...rest, text: 'Be brief\n' },
    ])
    expect(withoutBillingLine(`${LINE}\nBe brief`)).toBe('Be brief')
    expect(withoutBillingLine(LINE)).toBe('')
    expect(hasBillingLine([text(LINE)])).toBe(true)
  })

  test.each([
    ['no instructions', undefined],
    ['null', null],
    ['an empty list', []],
    ['other text', 'Be brief'],
    ['words about it', `Remove ${LINE}`],
    ['a later block', [text('Be brief'), text(LINE)]],
    ['a block that is no text', [{ type: 'image', text: LINE }]],
    ['a line so long that it could carry a prompt', `${LINE}${'x'.repeat(300)}\nBe brief`],
    ['a line with other characters than those of a header', `${LINE} cc=\u{1f600}`],
    ['blocks without text', [{ type: 'text' }]],
  ])('is not found in %s, which stays the same object', (_name, system) => {
    expect(withoutBillingLine(system)).toBe(system)
    expect(hasBillingLine(system)).toBe(false)
  })
})
