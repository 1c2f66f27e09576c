import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { precompress } from './scripts/precompress.ts'

const GATEWAY_URL = process.env['PARKWAY_DEV_GATEWAY'] ?? 'http://127.0.0.1:8080'

/** The paths that the gateway serves itself. All others belong to the console. */
const GATEWAY_PATHS = '^/(v1|anthropic|media|checkout|openapi.json|docs|readyz|healthz)(/|$)'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwind(), precompress()],
  build: {
    outDir: resolve(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // The policy of the page allows no data: address for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: {
      [GATEWAY_PATHS]: {
        target: GATEWAY_URL,
        // The gateway accepts a session only from its own page, so the page must look like one of its own.
        headers: { origin: new URL(GATEWAY_URL).origin },
        changeOrigin: true,
      },
    },
  },
})
