import { downloadText } from './download-text.ts'

export function downloadCsv(name: string, text: string): void {
  downloadText(name, text, 'text/csv')
}
