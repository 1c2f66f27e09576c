import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

const OWN_NAMES = /^(?:table|view)_/

/**
 * A text that the address has while a table or a view is shown. Pages do not see it in their search parameters, so that sorting neither
 * counts as a filter nor loads anything again.
 */
export function useAddressText(
  name: `table_${string}` | `view_${string}`,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => new URLSearchParams(location.search).get(name) ?? '')
  const [path] = useState(() => location.pathname)
  useEffect(() => takeName(name), [name])
  useRouterState({ select: ({ location }) => location.href })
  // After each change of the address, which renders this again and which pages make without knowing of tables. The next page has tables of its own.
  useEffect(() => {
    if (location.pathname === path) writeText(name, text)
  })
  return [text, setText]
}

/** Takes what tables keep out of the search parameters of an address. */
export function withoutTables(search: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(search).filter(([name]) => !OWN_NAMES.test(name)))
}

const taken = new Set<string>()

/** Two tables of one name would overwrite each other in the address. Tests fail on what is written here. */
function takeName(name: string): () => void {
  // oxlint-disable-next-line no-console -- whoever writes a page must see it
  if (taken.has(name)) console.error(`Two tables of this page have the name ${name}`)
  taken.add(name)
  return () => taken.delete(name)
}

function writeText(name: string, text: string): void {
  const address = new URL(location.href)
  if ((address.searchParams.get(name) ?? '') === text) return
  if (text === '') address.searchParams.delete(name)
  else address.searchParams.set(name, text)
  // Not by the method of the history that the router observes: nothing that it knows of changes.
  History.prototype.replaceState.call(window.history, window.history.state, '', address)
}
