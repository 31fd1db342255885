vcl 4.1;
# Varnish 7 in front of Triplegate: it stores what is public, and asks the gateway before each use, so that nothing that it
# sends is older than the gateway's own answer. Writes through it purge what they change. docs/proxies.md says how to run it:
#   varnishd -f triplegate.vcl -a 127.0.0.1:6081 -p http_gzip_support=off
# TLS ends before Varnish (nginx, hitch). Debian has the xkey module in the package varnish-modules.
import xkey;

# The gateway: triplegate serve --http 8080 --trusted-proxy 127.0.0.1/32 --shared-cache
backend triplegate {
    .host = "127.0.0.1";
    .port = "8080";
}

# Only these may say who a client is: the TLS tier.
acl tls_tier {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    if (client.ip !~ tls_tier) {
        unset req.http.Client-Cert;
        set req.http.X-Forwarded-For = client.ip;
    }
    if (req.method == "PRI") {
        return (synth(405));
    }
    # RFC 9111 3.5: whoever says who they are gets an answer of their own. A part of a file is the gateway's work.
    if ((req.method != "GET" && req.method != "HEAD") || req.http.Authorization || req.http.Cookie
        || req.http.Client-Cert || req.http.Range) {
        return (pass);
    }
    # Nobody waits for another's answer: each is asked for again anyway.
    set req.hash_ignore_busy = true;
    return (hash);
}

sub vcl_hit {
    # It has been stored while this request was on its way.
    if (obj.http.ETag) {
        return (pass);
    }
}

sub vcl_backend_response {
    unset beresp.http.X-Accel-Expires;
    if (bereq.uncacheable) {
        return (deliver);
    }
    unset beresp.http.Triplegate-Validated;
    if (beresp.was_304) {
        set beresp.http.Triplegate-Validated = "fwd=stale; fwd-status=304; stored";
    }
    # RFC 9111 5.2.2.4: what is never used without asking, and has no entity-tag to ask with, is of no use here. Only the built-in
    # VCL, which this one replaces, heeds no-cache.
    if (beresp.status != 200 || beresp.http.Cache-Control !~ "^public" || beresp.http.Vary ~ "\*"
        || (beresp.http.Cache-Control ~ "no-cache" && !beresp.http.ETag)) {
        set beresp.uncacheable = true;
        set beresp.ttl = 0s;
        return (deliver);
    }
    set beresp.grace = 0s;
    if (beresp.http.ETag) {
        # Stored to be asked about (RFC 9111 4.3): what never changes too, since the right to read it may end.
        # Varnish does not ask about what it stores for 0 s.
        set beresp.ttl = 0.001ms;
        set beresp.keep = 7d;
    }
    set beresp.http.xkey = regsuball(beresp.http.Cache-Groups, {",? *"([^"]*)""}, " " + bereq.http.host + "\1");
    return (deliver);
}

sub vcl_deliver {
    # RFC 9875 3: groups are those of an origin, and only writes purge them.
    if (req.method != "GET" && req.method != "HEAD" && resp.http.Cache-Group-Invalidation) {
        xkey.purge(regsuball(resp.http.Cache-Group-Invalidation, {",? *"([^"]*)""}, " " + req.http.host + "\1"));
    }
    unset resp.http.xkey;
    unset resp.http.X-Varnish;
    # RFC 9211
    if (obj.hits > 0) {
        set resp.http.Cache-Status = "Varnish; hit";
    } else {
        if (resp.http.Cache-Status) {
            set resp.http.Cache-Status = resp.http.Cache-Status + ", ";
        }
        if (obj.uncacheable) {
            set resp.http.Cache-Status = resp.http.Cache-Status + "Varnish; fwd=bypass";
        } else if (resp.http.Triplegate-Validated) {
            set resp.http.Cache-Status = resp.http.Cache-Status + "Varnish; " + resp.http.Triplegate-Validated;
        } else if (resp.status == 200) {
            set resp.http.Cache-Status = resp.http.Cache-Status + "Varnish; fwd=miss; stored";
        } else {
            set resp.http.Cache-Status = resp.http.Cache-Status + "Varnish; fwd=miss";
        }
    }
    unset resp.http.Triplegate-Validated;
    return (deliver);
}
