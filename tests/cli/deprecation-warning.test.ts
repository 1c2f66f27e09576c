import { expect, test } from 'vitest'
import { createDeprecationWarner } from '../../cli/api/warn-of-deprecation.ts'

test('a model that ends is told once, with its end and its successor', () => {
  const told: string[] = []
  const warn = createDeprecationWarner((sentence) => told.push(sentence))
  const old = { deprecation: '@1767225600', 'x-gateway-model': 'acme/old' }
  const complete = {
    ...old,
    sunset: 'Sun, 31 Jan 2027 00:00:00 GMT',
    link: '</v1/models/acme%2Fnew>; rel="successor-version"',
  }
  for (const headers of [
    {},
    complete,
    complete,
    { ...old, 'x-gateway-model': 'other' },
    { ...old, link: '%' },
  ])
    warn(new Headers(headers))
  expect(told).toEqual([
    'Warning: the model "acme/old" ends on 2027-01-31. Use "acme/new" instead.',
    'Warning: the model "other" is deprecated.',
  ])
})
