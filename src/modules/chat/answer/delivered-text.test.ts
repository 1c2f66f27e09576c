import { describe, expect, it } from 'vitest'
import { DeliveredText } from './delivered-text.ts'

const countLetters = (text: string) => text.length

describe('DeliveredText', () => {
  it('is empty until text is added', () => {
    const delivered = new DeliveredText()
    delivered.add('')
    expect([delivered.isEmpty, delivered.countTokens(countLetters)]).toEqual([true, 0])
    delivered.add('a')
    expect([delivered.isEmpty, delivered.countTokens(countLetters)]).toEqual([false, 1])
  })

  it('counts all text but keeps only the beginning', () => {
    const delivered = new DeliveredText()
    for (let piece = 0; piece < 1000; piece += 1) delivered.add('x'.repeat(10_000))
    let keptLength = 0
    const counted = delivered.countTokens((text) => {
      keptLength = text.length
      return text.length / 4
    })
    expect(counted).toBe(2_500_000)
    expect(keptLength).toBeLessThan(300_000)
  })
})
