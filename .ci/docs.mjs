// Docs/settings.md: writes it from the table of settings, after a build.
import { mkdirSync, writeFileSync } from 'node:fs'
import { settingsPage } from '../dist/gateway/configuration/settings.js'

mkdirSync('docs', { recursive: true })
writeFileSync('docs/settings.md', settingsPage())
