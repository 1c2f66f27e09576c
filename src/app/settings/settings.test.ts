import { describe, expect, it } from 'vitest'
import { loadConfig } from './config.ts'
import { SETTINGS } from './settings.ts'

describe('the settings', () => {
  it('are data, which processes send to each other', () => {
    const config = loadConfig({ environment: { OTHER_SECRET: 'a', OPENAI_API_KEY: 'b', PORT: '0' } })
    expect(structuredClone(config)).toEqual(config)
    expect([...config.otherVariables]).toEqual([['OTHER_SECRET', 'a']])
  })

  it('have unique names, in the environment and in the file', () => {
    const names = Object.values(SETTINGS).map(({ environment }) => environment)
    expect(new Set(names).size).toBe(names.length)
  })

  it('accept their own defaults', () => {
    for (const { defaultText, parse } of Object.values(SETTINGS))
      expect(() => (defaultText === null ? null : parse(defaultText))).not.toThrow()
  })

  it('the settings whose name suggests a secret are secret', () => {
    for (const { environment, isSecret } of Object.values(SETTINGS))
      if (/_KEY$|_TOKEN$|SECRET|PASSWORD|DATABASE_URL|HEADERS/.test(environment))
        expect([environment, isSecret]).toEqual([environment, true])
  })
})
