import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFirstKeyPrinter } from './print-first-key.ts'

const KEY = { bootstrapKey: 'pk-dev-first', signInCode: null }
let printed: string

beforeEach(() => {
  printed = ''
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const create = (given: string | null = null) =>
  createFirstKeyPrinter((text) => {
    printed += text
  }, given)
const count = () => printed.split(KEY.bootstrapKey).length - 1

describe('the first key is printed', () => {
  it('the first key is printed by the announcement, if that follows at once', () => {
    const printer = create()
    printer.note(KEY)
    printer.announced(KEY)
    vi.runAllTimers()
    printer.print()
    expect(printed).toBe('')
  })

  it('without the announcement, if that takes long', () => {
    const printer = create()
    printer.note(KEY)
    vi.runAllTimers()
    expect(count()).toBe(1)
    printer.print()
    expect(count()).toBe(1)
  })

  it('if the start fails, or the process ends in the middle of it', () => {
    const failing = create()
    failing.note(KEY)
    failing.print()
    expect(count()).toBe(1)
    const listeners = process.listeners('exit')
    const ending = create()
    ending.note(KEY)
    for (const listener of process.listeners('exit').filter((one) => !listeners.includes(one))) listener(1)
    expect(count()).toBe(2)
    expect(process.listeners('exit')).toEqual(listeners)
  })

  it('after an announcement without it', () => {
    const printer = create()
    printer.announced({ bootstrapKey: null })
    printer.note(KEY)
    expect(count()).toBe(1)
  })

  it('never, if the operator chose it', () => {
    const printer = create(KEY.bootstrapKey)
    printer.note(KEY)
    vi.runAllTimers()
    printer.print()
    expect(printed).toBe('')
  })
})
