#!/bin/sh
# What cluster.yml needs and nobody else may have, made once: an authority of its own, a certificate for each log server
# and each node, and `.env` with the key of callers, the secret of the nodes and the passwords of the log servers.
#
#   sh server/deploy/cluster/make-secrets.sh [FOLDER]
#
# FOLDER is that of cluster.yml unless said. What is there already stays, so that a second run only adds. On several
# machines: run it once, then give each machine `ca.pem`, its own certificate and key, and `.env`; `ca.key` stays at home.
set -eu
umask 077
folder=${1:-$(dirname "$0")}
secrets="$folder/secrets"
mkdir -p "$secrets"

random() { openssl rand -hex 32; }

if [ ! -e "$secrets/ca.key" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=trellis cluster" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign" \
    -keyout "$secrets/ca.key" -out "$secrets/ca.pem" 2>/dev/null
fi
for name in log1 log2 log3 one two three; do
  [ -e "$secrets/$name.pem" ] && continue
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" \
    -keyout "$secrets/$name.key" -out "$secrets/$name.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' "$name" > "$secrets/$name.ext"
  openssl x509 -req -in "$secrets/$name.csr" -CA "$secrets/ca.pem" -CAkey "$secrets/ca.key" -CAcreateserial -days 825 \
    -extfile "$secrets/$name.ext" -out "$secrets/$name.pem" 2>/dev/null
  rm "$secrets/$name.csr" "$secrets/$name.ext"
done
if [ ! -e "$folder/.env" ]; then
  {
    # 64 hexadecimal digits alone would be the digest of a key.
    echo "TRELLIS_API_KEY=key-$(random)"
    echo "TRELLIS_SECRET=$(random)"
    # A log server reads a word that begins with a digit as a number.
    echo "LOG_PASSWORD=p$(random)"
    echo "ROUTE_PASSWORD=p$(random)"
  } > "$folder/.env"
fi
if [ ! -e "$secrets/routes.conf" ]; then
  password=$(sed -n 's/^ROUTE_PASSWORD=//p' "$folder/.env")
  {
    echo "authorization { user: route, password: \"$password\" }"
    printf 'routes: ['
    for i in 1 2 3; do printf 'nats://route:%s@log%s:6222 ' "$password" "$i"; done | sed 's/ $//; s/ /, /g'
    echo ']'
  } > "$secrets/routes.conf"
fi
# Only their folder keeps others away: in a container somebody else reads them.
chmod 0644 "$secrets"/*.pem "$secrets"/*.conf "$secrets"/log?.key "$secrets"/one.key "$secrets"/two.key "$secrets"/three.key
echo "$secrets and $folder/.env are there"
