import { expect, test } from 'vitest'
import { dropReminders } from './drop-reminders.ts'

test.each([
  ['Hello', 'Hello'],
  ['<system-reminder>Use Read.</system-reminder>Hello', 'Hello'],
  ['a<system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>c', 'abc'],
  ['a<system-reminder>not closed', 'a<system-reminder>not closed'],
  ['</system-reminder>a', '</system-reminder>a'],
])('%s is read as %s', (text, expected) => {
  expect(dropReminders(text)).toBe(expected)
})
