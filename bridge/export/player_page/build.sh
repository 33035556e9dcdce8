#!/bin/sh
# Makes player.min.js, three.js included, of player.js: npm install && npm run build. Its first line says of which.
set -eu
cd "$(dirname "$0")"
source=$(sha256sum player.js | cut -d " " -f 1)
esbuild player.js --bundle --minify --format=iife --target=es2020 --legal-comments=none \
    --banner:js="/* player.js $source */" --outfile=player.min.js
