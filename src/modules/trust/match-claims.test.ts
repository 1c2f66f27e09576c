import { describe, expect, test } from 'vitest'
import { matchesClaims } from './match-claims.ts'

describe('claims of a rule', () => {
  const token = {
    sub: 'repo:acme/site:ref:refs/heads/main',
    repository: 'acme/site',
    ref: 'refs/heads/feature/login',
    environment: 'prod*',
    groups: ['staff', 'ops'],
    run_number: 7,
    'kubernetes.io': { namespace: 'batch', serviceaccount: { name: 'reports' } },
    'https://example.com/team': 'search',
  }

  test.each<[Record<string, string>]>([
    [{ repository: 'acme/site' }],
    [{ repository: 'acme/*' }],
    [{ sub: 'repo:acme/*:ref:refs/heads/main' }],
    [{ sub: 'repo:acme/site:ref:**' }],
    [{ ref: 'refs/heads/feature/*' }],
    [{ ref: 'refs/**' }],
    [{ environment: 'prod*' }],
    [{ groups: 'ops' }],
    [{ run_number: '7' }],
    [{ 'kubernetes.io/namespace': 'batch', 'kubernetes.io/serviceaccount/name': 'reports' }],
    [{ 'https://example.com/team': 'search' }],
  ])('%o are those of the token', (claims) => {
    expect(matchesClaims(token, claims)).toBe(true)
  })

  test.each<[Record<string, string>]>([
    [{}],
    [{ repository: 'acme/site2' }],
    [{ repository: 'acme' }],
    [{ repository: '.cme/site' }],
    [{ sub: 'repo:acme/site:*' }],
    [{ sub: 'repo:*' }],
    [{ sub: 'repo:**' }],
    [{ ref: 'refs/*' }],
    [{ environment: 'prod' }],
    [{ environment: 'p*' }],
    [{ groups: 'op' }],
    [{ repository: 'acme/site', missing: 'x' }],
    [{ 'kubernetes.io': 'batch' }],
    [{ 'kubernetes.io/namespace/x': 'batch' }],
    [{ constructor: 'x' }],
    [{ 'constructor/name': 'Object' }],
  ])('%o are not', (claims) => {
    expect(matchesClaims(token, claims)).toBe(false)
  })

  test('are compared fast, whatever the token has', () => {
    const sub = 'a'.repeat(1024)
    const started = performance.now()
    expect(matchesClaims({ sub }, { sub: 'a*a*a*a*b' })).toBe(false)
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(matchesClaims({ sub: 'a'.repeat(1025) }, { sub: 'a*' })).toBe(false)
  })
})
