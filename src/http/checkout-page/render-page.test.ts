import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { pageHeaders, renderPage } from './render-page.ts'

test('shown text cannot become markup', () => {
  const html = renderPage({
    title: '<img src=x>',
    amount: '"&\'',
    tone: 'open',
    lines: ['<script>alert(1)</script>'],
    actions: [{ path: '/a"onclick="b', label: '</button>', isMain: true }],
    link: { href: 'https://a.example/?x="><b>', label: '<b>' },
  })
  expect(html).not.toMatch(/<(img|script|b)\b/)
  expect(html).not.toContain('"onclick=')
  expect(html).toContain('&lt;script&gt;')
})

test('the content policy allows only the style of the page', () => {
  const html = renderPage({ title: 'x', tone: 'good', lines: [] })
  const style = /<style>([^]*)<\/style>/.exec(html)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  expect(pageHeaders()['content-security-policy']).toContain(`style-src 'sha256-${hash}'`)
})

test('forms may lead to the named addresses, with each origin listed once', () => {
  const headers = pageHeaders({ formTargets: ['https://a.example/x', null, 'https://a.example/y?z'] })
  expect(headers['content-security-policy']).toContain("form-action 'self' https://a.example;")
})
