# Apache Jena Fuseki from Maven Central, for packaging/compose.yaml.
FROM eclipse-temurin:21-jre
ARG VERSION=5.6.0
ADD https://repo.maven.apache.org/maven2/org/apache/jena/jena-fuseki-server/${VERSION}/jena-fuseki-server-${VERSION}.jar /opt/fuseki.jar
RUN groupadd --gid 10002 fuseki \
    && useradd --uid 10002 --gid 10002 --no-create-home --home-dir /fuseki fuseki \
    && install --directory --owner 10002 --group 10002 /fuseki \
    && chmod 0444 /opt/fuseki.jar
USER 10002:10002
WORKDIR /fuseki
VOLUME /fuseki
EXPOSE 3030
ENTRYPOINT ["java", "-jar", "/opt/fuseki.jar"]
CMD ["--config", "/etc/fuseki/fuseki.ttl"]
