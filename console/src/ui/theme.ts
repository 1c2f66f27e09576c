import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const STORAGE_KEY = 'parkway-theme'
const listeners = new Set<() => void>()

/** Applies the stored theme. Called before the first render, so that the page does not change its colours. */
export function applyTheme(): void {
  const theme = readTheme()
  if (theme === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme)
}

export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(STORAGE_KEY, theme)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  chosen = theme
  applyTheme()
  for (const listener of listeners) listener()
}

/** Whether the page is dark at present. Charts draw on a canvas and need to know. */
export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, () => {
    const theme = readTheme()
    return theme === 'dark' || (theme === 'system' && darkPreference.matches)
  })
}

const darkPreference = matchMedia('(prefers-color-scheme: dark)')
let chosen: Theme | null = null

function readTheme(): Theme {
  chosen ??= readStored()
  return chosen
}

function readStored(): Theme {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  darkPreference.addEventListener('change', listener)
  return () => {
    listeners.delete(listener)
    darkPreference.removeEventListener('change', listener)
  }
}
